// Command aspectd is `aspis aspectd` under a name of its own.
package main

import (
	"os"

	"github.com/aspis-rv/aspis/internal/cli"
)

func main() {
	os.Exit(cli.Main(append([]string{"aspis", "aspectd"}, os.Args[1:]...), os.Stdin, os.Stdout, os.Stderr))
}
