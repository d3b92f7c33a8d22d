package chaos

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Report is one run of scenarios.
type Report struct {
	Command string    `json:"command"`
	Commit  string    `json:"commit"`
	At      time.Time `json:"at"`
	Cores   int       `json:"cores"`
	Go      string    `json:"go"`
	Results []Result  `json:"results"`
}

// Result is one scenario.
type Result struct {
	Scenario   string         `json:"scenario"`
	Seed       uint64         `json:"seed"`
	Seconds    float64        `json:"seconds"` // under load
	Sum        Sum            `json:"sum"`
	Violations map[string]int `json:"violations"` // by check, all of Checks
}

// Save writes chaos.json and chaos.md into a folder.
func (r *Report) Save(dir string) error {
	slices.SortFunc(r.Results, func(a, b Result) int { return cmp.Compare(a.Scenario, b.Scenario) })
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(
		root.WriteFile("chaos.json", append(data, '\n'), 0o644),
		root.WriteFile("chaos.md", []byte(r.markdown()), 0o644),
		root.Close(),
	)
}

func (r *Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Fault scenarios\n\nCommit %s, %s, %d cores, %s, `%s`. Violations are of C0 to C5, in this order.\n\n",
		r.Commit, r.At.Format(time.RFC3339), r.Cores, r.Go, r.Command)
	b.WriteString("| scenario | violations | seconds | reads | marked | 503 | lost | unmarked outside faults | writes | unknown | waited for edges | for silent ones | seed |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Results {
		var violations []string
		for _, check := range Checks() {
			violations = append(violations, fmt.Sprint(s.Violations[check]))
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f | %d | %d | %d | %d | %d of %d | %d | %d | %d | %d | %d |\n",
			s.Scenario, strings.Join(violations, " "), s.Seconds, s.Sum.Reads, s.Sum.Marked, s.Sum.Refused, s.Sum.Lost,
			s.Sum.Unmarked, s.Sum.Outside, s.Sum.Writes, s.Sum.Unknown, s.Sum.Waited, s.Sum.Silent, s.Seed)
	}
	return b.String()
}
