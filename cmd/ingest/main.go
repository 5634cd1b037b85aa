// Command ingest is `aspis ingest` under a name of its own.
package main

import (
	"os"

	"github.com/aspis-rv/aspis/internal/cli"
)

func main() {
	os.Exit(cli.Main(append([]string{"aspis", "ingest"}, os.Args[1:]...), os.Stdin, os.Stdout, os.Stderr))
}
