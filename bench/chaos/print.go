package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxLines bounds how much of one key's history is printed.
const maxLines = 200

func (s Sight) String() string {
	if s.Version == 0 {
		return fmt.Sprint(s.Status)
	}
	return fmt.Sprintf("%d /%d", s.Status, s.Version)
}

func (r Read) String() string {
	mark := ""
	if r.Marked {
		mark = " marked"
	}
	return fmt.Sprintf("[%s..%s] edge %d boot %d: %s%s", ms(r.Invoked), ms(r.Answered), r.Edge, r.Boot, r.Sight, mark)
}

func (w *Write) String() string {
	class, end, receipt := "available", "?", "no answer"
	if w.Strict {
		class = "strict"
	}
	if w.Known {
		end, receipt = ms(w.Answered), "committed"
	}
	switch {
	case w.Given:
		receipt = "given"
	case w.Edges:
		receipt = fmt.Sprintf("ack=edges, edges=%d, acked=%d", w.Members, w.Acked)
	}
	return fmt.Sprintf("[%s..%s] write %d, %s of a link that is %s: %s, %s", ms(w.Invoked), end, w.N, w.Kind, class, w.Shows, receipt)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// Print is the history of the violation's key up to a moment after it, by the time of each beginning. Reads of one edge
// that follow each other and show the same are one line.
func (h *History) Print(v Violation) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	type line struct {
		at   time.Duration
		text string
	}
	end := v.Read.Answered + time.Second
	var lines []line
	for _, w := range h.writes[v.Key] {
		if w.Invoked <= end {
			lines = append(lines, line{w.Invoked, w.String()})
		}
	}
	for _, run := range runs(h.reads[v.Key], v.Read, end) {
		text := run.first.String()
		if run.n > 1 {
			text += fmt.Sprintf(", and %d more until %s", run.n-1, ms(run.until))
		}
		if run.first == v.Read {
			text += "   <== " + v.Check
		}
		lines = append(lines, line{run.first.Invoked, text})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	fmt.Fprintf(&b, "history of %s:\n", v.Key)
	if skipped := len(lines) - maxLines; skipped > 0 {
		fmt.Fprintf(&b, "  (%d earlier lines)\n", skipped)
		lines = lines[skipped:]
	}
	for _, l := range lines {
		b.WriteString("  " + l.text + "\n")
	}
	return b.String()
}

// run is reads of one edge that follow each other and show the same.
type run struct {
	first Read
	until time.Duration
	n     int
}

// runs leaves the read that is told of alone.
func runs(reads []Read, told Read, end time.Duration) (all []*run) {
	reads = slices.Clone(reads)
	slices.SortStableFunc(reads, func(a, b Read) int { return cmp.Compare(a.Invoked, b.Invoked) })
	last := map[int]*run{}
	for _, r := range reads {
		if r.Invoked > end {
			break
		}
		if l := last[r.Edge]; l != nil && r != told && l.first != told && l.first.Boot == r.Boot && l.first.Sight == r.Sight && l.first.Marked == r.Marked {
			l.n, l.until = l.n+1, max(l.until, r.Answered)
			continue
		}
		last[r.Edge] = &run{first: r, until: r.Answered, n: 1}
		all = append(all, last[r.Edge])
	}
	return all
}
