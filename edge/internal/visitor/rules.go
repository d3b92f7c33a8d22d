package visitor

import (
	"fmt"
	"strings"
)

// rule is one line of agents.tsv: it holds for an agent that has all its parts
// and none that it rules out.
type rule struct {
	field string // "kind", "device", "browser" or "os"
	weak  bool   // asked only where the library has no answer
	value string
	parts []part
}

// part is a piece of an agent in lower case.
type part struct {
	text string
	not  bool // the agent must not have it
	last bool // the agent must end with it
}

// parseRules reads rules as agents.tsv describes them. The error names the
// line.
func parseRules(text string) ([]rule, error) {
	var rules []rule
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 3 {
			return nil, fmt.Errorf("line %d: not three columns: %q", n, line)
		}
		r := rule{value: columns[1]}
		r.field, r.weak = strings.CutSuffix(columns[0], "?")
		for text := range strings.SplitSeq(columns[2], " & ") {
			var p part
			text, p.not = strings.CutPrefix(text, "!")
			p.text, p.last = strings.CutSuffix(text, "$")
			if p.text == "" || p.text != strings.ToLower(p.text) {
				return nil, fmt.Errorf("line %d: not a part in lower case: %q", n, text)
			}
			r.parts = append(r.parts, p)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// holds says whether an agent in lower case is the rule's.
func (r *rule) holds(agent string) bool {
	for _, p := range r.parts {
		has := strings.Contains
		if p.last {
			has = strings.HasSuffix
		}
		if has(agent, p.text) == p.not {
			return false
		}
	}
	return true
}
