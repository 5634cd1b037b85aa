// Command testlog reads the output of `go test -json`, prints what a person wants
// of it (the closing line of each package, everything a failed test printed), and
// fails when a test failed, when none ran, or when one was skipped that the list of
// allowed skips does not name.
//
//	go test -json ./... | testlog -allow .ci/allowed-skips.txt -closing FILE
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("testlog", flag.ContinueOnError)
	flags.SetOutput(stderr)
	allow := flags.String("allow", "", "file of tests that may be skipped: `package Test | reason` a line")
	closing := flags.String("closing", "", "file to which the closing lines are written")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	log := newLog(stdout)
	if *allow != "" {
		text, err := os.ReadFile(*allow)
		if err == nil {
			log.allowed, err = parseAllowed(string(text))
		}
		if err != nil {
			fmt.Fprintf(stderr, "testlog: %s: %v\n", *allow, err) //nolint:errcheck // nowhere to report it
			return 2
		}
	}
	err := log.read(stdin)
	if err == nil && *closing != "" {
		err = os.WriteFile(*closing, []byte(log.closing.String()), 0o600)
	}
	if err != nil {
		fmt.Fprintf(stderr, "testlog: %v\n", err) //nolint:errcheck // nowhere to report it
		return 2
	}
	if !log.verdict() {
		return 1
	}
	return 0
}
