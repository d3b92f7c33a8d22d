package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"waypost/bench/measure"
)

// The marks between which the README is made.
const (
	begins = "<!-- made by make howfast, from here -->\n"
	ends   = "<!-- made by make howfast, up to here -->\n"
)

// errMarks says that a page does not have both marks, each once and in their order.
var errMarks = errors.New("marks are missing: want " + strings.TrimSpace(begins) + " and " + strings.TrimSpace(ends))

// between is a page with other text between its marks.
func between(page []byte, text string) ([]byte, error) {
	head, rest, ok := bytes.Cut(page, []byte(begins))
	_, tail, closed := bytes.Cut(rest, []byte(ends))
	if !ok || !closed || bytes.Contains(tail, []byte(begins)) || bytes.Contains(tail, []byte(ends)) {
		return nil, errMarks
	}
	return bytes.Join([][]byte{head, tail}, []byte(begins+text+ends)), nil
}

// section is what stands between the marks: the picture, if there is one, and a table of all values that have a bar.
func section(r *measure.Report, picture string) string {
	var b strings.Builder
	if picture != "" {
		fmt.Fprintf(&b, "\n![CPU of a redirect from memory, by server](%s)\n", picture)
	}
	b.WriteString("\n| what | figure | measured | bar | |\n|---|---|---|---|---|\n")
	for _, f := range r.Figures {
		name := f.Name
		for _, v := range f.Values {
			if v.Bar == nil {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, v.Name, v, v.Bound(), verdict(v))
			name = "" // told once
		}
	}
	fmt.Fprintf(&b, "\nMedians of turns, with the least and the largest turn. %s Commit %s, %s. All figures, and how each was measured: "+
		"[bench/results/%s.md](bench/results/%s.md).\n\n", r.Machine, r.Commit, r.At.Format("2 January 2006"), r.Name, r.Name)
	return b.String()
}

// verdict is how the value stands to its bar.
func verdict(v measure.Value) string {
	if v.Met() {
		return "met"
	}
	return "**missed**"
}
