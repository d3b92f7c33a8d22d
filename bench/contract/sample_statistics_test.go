package contract

// statisticSamples are those of what was counted.
func statisticSamples() map[string]func(o *owner) []call {
	return map[string]func(o *owner) []call{
		"linkStats": func(o *owner) []call {
			l := o.clicked()
			return []call{
				{path: []string{l.code}, status: 200, other: 404},
				{path: []string{l.code}, query: "from=2026-01-01&to=2026-01-02&day=2026-01-01", status: 200, other: 404},
			}
		},
		"linkClicks": func(o *owner) []call {
			return []call{{path: []string{o.clicked().code}, query: "limit=20", status: 200, other: 404}}
		},
		"eraseClicks": func(o *owner) []call {
			return []call{{path: []string{o.clicked().code}, admin: true, status: 204, other: 403}}
		},
		"liveClicks": func(o *owner) []call {
			return []call{{path: []string{o.link().code}, status: 200, other: 404}}
		},
		"topLinks": func(o *owner) []call {
			o.clicked()
			return []call{{status: 200, other: 200}, {query: "limit=100", admin: true, status: 200, other: 200}}
		},
		"orphans": func(*owner) []call {
			return []call{{admin: true, status: 200, other: 403}}
		},
	}
}
