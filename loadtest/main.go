// Loadtest plays fleets of scripted agents against Aspis, holds every answer against
// the right one, and prints how long the answers took.
package main

import (
	"os"

	"github.com/aspis-rv/aspis/loadtest/command"
)

func main() {
	os.Exit(command.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
