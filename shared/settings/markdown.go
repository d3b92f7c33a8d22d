package settings

import "strings"

// Markdown is Table as a table in Markdown, for a README that a test keeps
// equal to the struct.
func Markdown(cfg any) string {
	var b strings.Builder
	b.WriteString("| variable | unit | default | meaning |\n|---|---|---|---|\n")
	for _, row := range Table(cfg) {
		name := "`" + row.Env + "`"
		if row.Env == "" {
			name = "`" + row.Flag + "`"
		}
		def := ""
		if row.Default != "" {
			def = "`" + row.Default + "`"
		}
		help := row.Help
		if row.Secret {
			help += "; or `" + row.Env + "_FILE`, a file that holds it"
		}
		for i, cell := range []string{name, row.Unit, def, help} {
			if i == 0 {
				b.WriteString("|")
			}
			b.WriteString(" " + strings.ReplaceAll(cell, "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
