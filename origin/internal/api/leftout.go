package api

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// describeLeftOut completes the descriptions of a link's fields with what it
// means to leave one out or to send null, which is not the same for a creation
// and a change. The tag unset says what a link has without the field.
func describeLeftOut(schemas map[string]*huma.Schema) {
	create, change := schemas["LinkCreate"], schemas["LinkChange"]
	for _, f := range reflect.VisibleFields(reflect.TypeFor[LinkCreate]()) {
		unset, ok := f.Tag.Lookup("unset")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		addSentence(create.Properties[name], "Left out or null: "+unset+".")
		if p := change.Properties[name]; p != nil {
			addSentence(p, "Left out: unchanged; null: "+unset+".")
		}
	}
	addSentence(change.Properties["target"], "Left out: unchanged.")
	// A link must have a target, but it keeps the one it has.
	change.Required = nil
}

func addSentence(p *huma.Schema, sentence string) { p.Description += ". " + sentence }
