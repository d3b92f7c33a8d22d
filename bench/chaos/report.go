package chaos

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

	LostWrites []LostWrites   `json:"lost_writes,omitempty"` // acknowledged, then taken back by a restore
	Counts     map[string]int `json:"counts,omitempty"`      // what else the scenario has done and seen, by its own words
}

// LostWrites are the writes of one link, by their numbers, that a restore has taken back.
type LostWrites struct {
	Key    string `json:"key"`
	Writes []int  `json:"writes"`
}

// lost counts writes.
func (r *Result) lost() (n int) {
	for _, l := range r.LostWrites {
		n += len(l.Writes)
	}
	return n
}

// also is what the scenario counts, in words.
func (r *Result) also() string {
	var words []string
	for _, what := range slices.Sorted(maps.Keys(r.Counts)) {
		words = append(words, fmt.Sprintf("%s: %d", what, r.Counts[what]))
	}
	return strings.Join(words, ", ")
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
	b.WriteString("A pair is a read and a write of one link that were under way at the same time. Lost writes had been acknowledged " +
		"before a restore took them back; chaos.json names them.\n\n")
	b.WriteString("| scenario | violations | seconds | reads | marked | 503 | unanswered | unmarked outside faults | writes | unknown | pairs | lost writes | waited for edges | for silent ones | also | seed |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Results {
		var violations []string
		for _, check := range Checks() {
			violations = append(violations, fmt.Sprint(s.Violations[check]))
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f | %d | %d | %d | %d | %d of %d | %d | %d | %d | %d | %d | %d | %s | %d |\n",
			s.Scenario, strings.Join(violations, " "), s.Seconds, s.Sum.Reads, s.Sum.Marked, s.Sum.Refused, s.Sum.Lost,
			s.Sum.Unmarked, s.Sum.Outside, s.Sum.Writes, s.Sum.Unknown, s.Sum.Pairs, s.lost(), s.Sum.Waited, s.Sum.Silent,
			s.also(), s.Seed)
	}
	return b.String()
}
