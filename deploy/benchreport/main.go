// Command benchreport reads the output of `go test -bench` and writes it as JSON, with commit and machine, and as a
// Markdown table made from that.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "benchreport: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, stderr io.Writer) error {
	flags := flag.NewFlagSet("benchreport", flag.ContinueOnError)
	flags.SetOutput(stderr)
	commit := flags.String("commit", "unknown", "the `commit` that was measured")
	jsonPath := flags.String("json", "", "`file` for the report as JSON")
	markdownPath := flags.String("markdown", "", "`file` for the report as Markdown")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *jsonPath == "" || *markdownPath == "" {
		return errors.New("-json and -markdown are required")
	}
	r, err := parse(in)
	if err != nil {
		return err
	}
	r.Commit, r.At = *commit, time.Now().UTC().Truncate(time.Second)
	r.Machine.Cores, r.Machine.Go = runtime.NumCPU(), runtime.Version()
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(*jsonPath, append(b, '\n'), 0o644),          //nolint:gosec // a report for everybody
		os.WriteFile(*markdownPath, []byte(r.markdown()), 0o644), //nolint:gosec // a report for everybody
	)
}
