package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Report is what one run of measurements found. Name and Command must be set.
type Report struct {
	Name     string    `json:"name"`    // of its files
	Command  string    `json:"command"` // that measures it; with ROWS=row one row of it
	Commit   string    `json:"commit"`
	At       time.Time `json:"at"`
	Machine  Machine   `json:"machine"`
	Settings []string  `json:"settings"` // of what was measured, a sentence each
	Figures  []Figure  `json:"figures"`
}

// Load reads a report that Save wrote as Name.json.
func Load(path string) (*Report, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the caller's own file
	if err != nil {
		return nil, err
	}
	r := new(Report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("report %s: %w", path, err)
	}
	return r, nil
}

// Save writes Name.json, and Name.md made from it, into a folder.
func (r *Report) Save(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(
		root.WriteFile(r.Name+".json", append(data, '\n'), 0o644),
		root.WriteFile(r.Name+".md", []byte(r.markdown()), 0o644),
		root.Close(),
	)
}

func (r *Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s%s\n\nCommit %s, %s, `%s`.\n\n", strings.ToUpper(r.Name[:1]), r.Name[1:], r.Commit, r.At.Format(time.RFC3339), r.Command)
	fmt.Fprintf(&b, "%s\n\n", r.Machine)
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	b.WriteString("\n| figure | bar | measured | of | | command |\n|---|---|---|---|---|---|\n")
	for _, f := range r.Figures {
		fmt.Fprintf(&b, "| %s | %s | %s | %d %s | %s | `%s ROWS=%s` |\n",
			f.Name, f.bars(), f.measured(), f.N, f.Unit, f.verdict(), r.Command, f.Row)
	}
	b.WriteString("\n## How each was measured\n")
	// Figures of one row were mostly measured in the same way, which is told once.
	var told []string
	for _, f := range r.Figures {
		if told = append(told, f.Method); slices.Index(told, f.Method) == len(told)-1 {
			fmt.Fprintf(&b, "\n**%s.** %s\n", f.Row, f.Method)
		}
	}
	return b.String()
}
