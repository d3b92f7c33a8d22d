package web

import (
	"html/template"
	"strings"
)

// prose is a description as HTML. Descriptions are CommonMark, of which ours use
// the code span alone: `text` in single backticks.
func prose(text string) template.HTML {
	var b strings.Builder
	for {
		before, rest, opened := strings.Cut(text, "`")
		code, after, closed := strings.Cut(rest, "`")
		if !opened || !closed {
			b.WriteString(template.HTMLEscapeString(text))
			return template.HTML(b.String()) //nolint:gosec // every part is escaped
		}
		b.WriteString(template.HTMLEscapeString(before))
		b.WriteString("<code>" + template.HTMLEscapeString(code) + "</code>")
		text = after
	}
}
