// Command howfast puts what bench/redirects measured into the README, between two marks, and draws the picture beside it.
//
//	howfast -report bench/results/redirects.json -readme README.md -chart bench/results/redirects.svg
//
// Run again on the same report it changes nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"waypost/bench/measure"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "howfast:", err)
		os.Exit(1)
	}
}

func run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("howfast", flag.ContinueOnError)
	flags.SetOutput(stderr)
	report := flags.String("report", "", "file that measuring left, JSON")
	readme := flags.String("readme", "", "Markdown file with the marks")
	chart := flags.String("chart", "", "SVG file to write, in the folder of the readme or below")
	if err := flags.Parse(args); err != nil {
		return err
	}
	found, err := measure.Load(*report)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(*readme)
	if err != nil {
		return err
	}
	picture, err := filepath.Rel(filepath.Dir(*readme), *chart)
	if err != nil {
		return err
	}
	drawn := draw(groups(found))
	if drawn == "" {
		picture = ""
	}
	page, err = between(page, section(found, filepath.ToSlash(picture)))
	if err != nil {
		return fmt.Errorf("%s: %w", *readme, err)
	}
	if drawn != "" {
		err = os.WriteFile(*chart, []byte(drawn), 0o644) //nolint:gosec // a picture for everybody
	}
	return errors.Join(err, os.WriteFile(*readme, page, 0o644)) //nolint:gosec // a page for everybody
}
