package measure

import (
	"slices"
	"strconv"
	"strings"
)

// Figure is one line of a report: what was measured how often, and what it should be.
type Figure struct {
	Name   string  `json:"name"`
	Unit   string  `json:"sampled"` // what N counts, in the plural
	N      int     `json:"n"`
	Values []Value `json:"values"`
	Row    string  `json:"row"` // of the command, which measures it again
	Method string  `json:"method"`
}

// Value is one number of a figure.
type Value struct {
	Name string  `json:"name"`
	Got  float64 `json:"got"`
	Unit string  `json:"unit"` // "" for a count
	Bar  *Bar    `json:"bar,omitempty"`
	// Turns are the values of which Got is the median, in the order of their turns; none where Got was measured by itself.
	Turns []float64 `json:"turns,omitempty"`
}

// Bar is what a value must not exceed, or must reach.
type Bar struct {
	Least bool    `json:"least"` // it must reach it
	Of    float64 `json:"of"`
}

// Number is a value without a bar.
func Number(name string, got float64, unit string) Value {
	return Value{Name: name, Got: got, Unit: unit}
}

// Most is a value with a bar that it must not exceed.
func Most(name string, got, bar float64, unit string) Value {
	return Value{Name: name, Got: got, Unit: unit, Bar: &Bar{Of: bar}}
}

// Least is a value with a bar that it must reach.
func Least(name string, got, bar float64, unit string) Value {
	return Value{Name: name, Got: got, Unit: unit, Bar: &Bar{Least: true, Of: bar}}
}

// Of is the value with that of every turn, of which it becomes the median.
func (v Value) Of(turns []float64) Value {
	v.Got, v.Turns = Median(turns), turns
	return v
}

// Met reports whether the value keeps its bar; one without a bar does.
func (v Value) Met() bool {
	switch {
	case v.Bar == nil:
		return true
	case v.Bar.Least:
		return v.Got >= v.Bar.Of
	default:
		return v.Got <= v.Bar.Of
	}
}

// Met reports whether every value keeps its bar. A figure of nothing keeps none.
func (f *Figure) Met() bool {
	for _, v := range f.Values {
		if !v.Met() {
			return false
		}
	}
	return f.N > 0
}

// barred reports whether the figure has a bar at all.
func (f *Figure) barred() bool {
	for _, v := range f.Values {
		if v.Bar != nil {
			return true
		}
	}
	return false
}

// String is what was measured, in words: the number, and between which it was in turns.
func (v Value) String() string {
	text := quantity(v.Got, v.Unit)
	if len(v.Turns) > 1 {
		text += " (" + quantity(slices.Min(v.Turns), "") + " to " + quantity(slices.Max(v.Turns), "") + ")"
	}
	return text
}

// Bound is the value's bar in words, "" where there is none.
func (v Value) Bound() string {
	switch {
	case v.Bar == nil:
		return ""
	case v.Bar.Least:
		return "≥ " + quantity(v.Bar.Of, v.Unit)
	default:
		return "≤ " + quantity(v.Bar.Of, v.Unit)
	}
}

// bars is what the figure should be, in words.
func (f *Figure) bars() string {
	var all []string
	for _, v := range f.Values {
		if v.Bar != nil {
			all = append(all, v.Name+" "+v.Bound())
		}
	}
	return strings.Join(all, ", ")
}

// measured is what the figure is, in words.
func (f *Figure) measured() string {
	var all []string
	for _, v := range f.Values {
		all = append(all, v.Name+" "+v.String())
	}
	return strings.Join(all, ", ")
}

// verdict is "met" or "missed", or "" where there is no bar.
func (f *Figure) verdict() string {
	switch {
	case !f.barred():
		return ""
	case f.Met():
		return "met"
	default:
		return "**missed**"
	}
}

// quantity is a number with its unit, to four digits; a count is whole.
func quantity(v float64, unit string) string {
	if v == float64(int64(v)) {
		return strings.TrimSpace(strconv.FormatInt(int64(v), 10) + " " + unit)
	}
	return strings.TrimSpace(strconv.FormatFloat(v, 'g', 4, 64) + " " + unit)
}
