package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"waypost/bench/measure"
)

// ours is the server whose bar stands out.
const ours = "Waypost"

// group is a work and the CPU of a redirect at it, by server, the least first.
type group struct {
	work string
	bars []bar
}

// bar is a server's CPU of a redirect, in microseconds.
type bar struct {
	server string
	micros float64
}

// groups are the figures "server: a redirect of work", by work, in the report's order.
func groups(r *measure.Report) (all []group) {
	for _, f := range r.Figures {
		server, work, ok := strings.Cut(f.Name, ": a redirect of ")
		if !ok || strings.Contains(work, " by ") {
			continue
		}
		i := slices.IndexFunc(f.Values, func(v measure.Value) bool { return v.Name == "CPU" && v.Unit == "µs" })
		if i < 0 {
			continue
		}
		if len(all) == 0 || all[len(all)-1].work != work {
			all = append(all, group{work: work})
		}
		g := &all[len(all)-1]
		g.bars = append(g.bars, bar{server, f.Values[i].Got})
	}
	for _, g := range all {
		slices.SortStableFunc(g.bars, func(a, b bar) int { return cmp.Compare(a.micros, b.micros) })
	}
	return all
}

// Sizes of the picture, in pixels.
const (
	width   = 720
	left    = 150 // of the bars: beside it stand the servers
	right   = 90  // of the longest bar: beside it stands its number
	line    = 24  // from one bar to the next
	thick   = 16
	heading = 34
	margin  = 12
)

// draw is an SVG of bars, all groups in one scale; "" of nothing.
func draw(all []group) string {
	longest, height := 0.0, 2*margin
	for _, g := range all {
		height += heading + line*len(g.bars)
		for _, b := range g.bars {
			longest = max(longest, b.micros)
		}
	}
	if longest == 0 {
		return ""
	}
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13" fill="#24292f">`+"\n", width, height, width, height)
	fmt.Fprintf(&s, `<rect width="%d" height="%d" rx="6" fill="#ffffff"/>`+"\n", width, height)
	y := margin
	for _, g := range all {
		fmt.Fprintf(&s, `<text x="%d" y="%d" font-weight="bold">CPU of a redirect of %s, in µs: less is better</text>`+"\n", margin, y+20, escaped(g.work))
		y += heading
		for _, b := range g.bars {
			colour, weight := "#9aa5b1", "normal"
			if b.server == ours {
				colour, weight = "#0b6bcb", "bold"
			}
			long := b.micros / longest * (width - left - right)
			fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="end" font-weight="%s">%s</text>`, left-8, y+13, weight, escaped(b.server))
			fmt.Fprintf(&s, `<rect x="%d" y="%d" width="%.1f" height="%d" rx="2" fill="%s"/>`, left, y, max(long, 1), thick, colour)
			fmt.Fprintf(&s, `<text x="%.1f" y="%d" font-weight="%s">%.1f</text>`+"\n", left+long+6, y+13, weight, b.micros)
			y += line
		}
	}
	s.WriteString("</svg>\n")
	return s.String()
}

// escaped is a text as it may stand in the picture.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // writing to memory does not fail
	return b.String()
}
