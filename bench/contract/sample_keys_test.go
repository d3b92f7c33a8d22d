package contract

import "strings"

// keySamples are those of API keys, which are for admins alone.
func keySamples() map[string]func(o *owner) []call {
	return map[string]func(o *owner) []call{
		"createKey": func(o *owner) []call {
			return []call{{body: `{"scopes": ["links:read"], "owner": "` + o.name + `", "note": "of a test"}`, admin: true, status: 201, other: 403}}
		},
		"listKeys": func(*owner) []call {
			return []call{
				{admin: true, status: 200, other: 403},
				{query: "limit=1", admin: true, status: 200, other: 403},
			}
		},
		"revokeKey": func(o *owner) []call {
			first := strings.Split(o.stage.admin, "_")[1]
			return []call{
				{path: []string{o.stage.newKey(o.t, o.name, "links:read").id}, admin: true, status: 204, other: 403},
				{path: []string{first}, admin: true, status: 409, other: 403},
			}
		},
		"changeKey": func(o *owner) []call {
			made := o.stage.newKey(o.t, o.name, "links:read")
			return []call{{path: []string{made.id}, body: `{"note": "changed", "create_rate": 5}`, admin: true, status: 200, other: 403}}
		},
	}
}
