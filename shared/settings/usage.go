package settings

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// Row describes one setting, for --help and for tables in documents.
type Row struct {
	Flag     string // with its dashes
	Env      string // "" if only a flag
	Unit     string // what a value looks like; "" for free text
	Default  string // "" where there is none, and for secrets
	Help     string
	Secret   bool // Flag+"-file" and Env+"_FILE" are understood too
	Required bool
}

// Table describes the settings of cfg, a struct or a pointer to one, in the
// order they are declared.
func Table(cfg any) []Row {
	fields := fieldsOf(reflect.ValueOf(cfg))
	rows := make([]Row, 0, len(fields))
	for _, f := range fields {
		row := Row{
			Flag: "--" + f.flag, Env: f.env, Unit: f.unit(), Default: f.tag.Get("default"),
			Help: f.tag.Get("help"), Secret: f.secret(), Required: f.required(),
		}
		if computed := f.tag.Get("computed"); computed != "" {
			row.Default = computed
		}
		if row.Secret {
			row.Default = ""
		}
		rows = append(rows, row)
	}
	return rows
}

// Usage writes the --help text: how program is called, then each setting with
// flag, variable, unit, default and help.
func Usage(w io.Writer, program string, cfg any) error {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s [flags]\n\nA flag wins over its environment variable; an empty variable counts as unset.\n", program)
	for _, r := range Table(cfg) {
		fmt.Fprintf(&b, "\n  %s", r.Flag)
		if r.Secret {
			fmt.Fprintf(&b, ", %s%s", r.Flag, fileFlag)
		}
		if r.Env != "" {
			fmt.Fprintf(&b, "  (%s", r.Env)
			if r.Secret {
				fmt.Fprintf(&b, ", %s%s", r.Env, fileEnv)
			}
			b.WriteByte(')')
		}
		fmt.Fprintf(&b, "\n        %s\n", r.Help)
		if notes := r.notes(); len(notes) > 0 {
			fmt.Fprintf(&b, "        [%s]\n", strings.Join(notes, "; "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Row) notes() []string {
	var notes []string
	if r.Unit != "" {
		notes = append(notes, r.Unit)
	}
	if r.Default != "" {
		notes = append(notes, "default "+r.Default)
	}
	if r.Required {
		notes = append(notes, "required")
	}
	return notes
}

// unit is the unit tag, or what the type itself says.
func (f field) unit() string {
	if unit := f.tag.Get("unit"); unit != "" {
		return unit
	}
	if words := f.words(); words != nil {
		return strings.Join(words, ", ")
	}
	switch f.value.Interface().(type) {
	case time.Duration:
		return "duration, such as 1s"
	case Bytes:
		return "bytes, such as 64MiB"
	}
	switch {
	case f.isBool():
		return "on or off"
	case f.value.Kind() == reflect.Slice:
		return "list, comma-separated"
	}
	switch f.tag.Get("format") {
	case "url", "http":
		return "URL"
	case "address":
		return "host:port"
	}
	return ""
}
