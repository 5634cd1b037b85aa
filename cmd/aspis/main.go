// Command aspis monitors the tool calls of LLM agents: one process with everything,
// the separate roles, and the tools around them.
package main

import (
	"os"

	"github.com/aspis-rv/aspis/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
