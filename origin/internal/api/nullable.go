package api

import "github.com/danielgtaylor/huma/v2"

// choices makes of every field that is one of some words, or null, a choice of
// the two. An enumeration with null in it means the same, but those who generate
// clients take its null for a word.
func choices(schemas map[string]*huma.Schema) {
	for _, s := range schemas {
		for _, p := range s.Properties {
			if !p.Nullable || len(p.Enum) == 0 {
				continue
			}
			p.AnyOf = []*huma.Schema{{Type: p.Type, Format: p.Format, Enum: p.Enum}, {Type: "null"}}
			p.Type, p.Format, p.Enum, p.Nullable = "", "", nil, false
		}
	}
}
