package contract

// domainSamples are those of domains and of blocked hosts, which admins alone change.
func domainSamples() map[string]func(o *owner) []call {
	return map[string]func(o *owner) []call{
		"createDomain": func(o *owner) []call {
			host := o.stage.name("fresh") + ".example"
			return []call{
				{body: `{"host": "` + host + `", "status": 307, "not_found_url": "https://example.com/lost"}`, admin: true, status: 201, other: 403},
				{body: `{"host": "` + host + `"}`, admin: true, status: 409, other: 403},
			}
		},
		"listDomains": func(*owner) []call {
			return []call{{status: 200, other: 200}, {query: "limit=1", status: 200, other: 200}}
		},
		"getDomain": func(*owner) []call {
			return []call{
				{path: []string{domain}, status: 200, other: 200},
				{path: []string{"_default"}, status: 200, other: 200},
				{path: []string{domain}, header: map[string]string{"If-None-Match": "*"}, status: 304, other: 304},
			}
		},
		"changeDomain": func(o *owner) []call {
			host := o.domain()
			return []call{
				{path: []string{host}, body: `{"home_url": "https://example.com/home"}`, admin: true, status: 200, other: 403},
				{path: []string{host}, body: `{"home_url": null}`, header: map[string]string{"If-Match": `"1.999999"`}, admin: true, status: 412, other: 403},
			}
		},
		"deleteDomain": func(o *owner) []call {
			used := o.domain()
			o.link(`"domain": "` + used + `"`)
			return []call{
				{path: []string{o.domain()}, admin: true, status: 204, other: 403},
				{path: []string{used}, admin: true, status: 409, other: 403},
				{path: []string{o.domain()}, header: map[string]string{"If-Match": `"1.999999"`}, admin: true, status: 412, other: 403},
			}
		},
		"createBlock": func(o *owner) []call {
			host := o.stage.name("fresh") + ".example"
			return []call{
				{body: `{"host": "` + host + `", "kind": "suffix"}`, admin: true, status: 201, other: 403},
				{body: `{"host": "` + host + `", "note": "seen twice"}`, admin: true, status: 200, other: 403},
			}
		},
		"listBlocks": func(o *owner) []call {
			o.block()
			return []call{{admin: true, status: 200, other: 403}}
		},
		"getBlock": func(o *owner) []call {
			return []call{
				{path: []string{o.block()}, admin: true, status: 200, other: 403},
				{path: []string{blockedByFile}, admin: true, status: 200, other: 403},
			}
		},
		"deleteBlock": func(o *owner) []call {
			return []call{
				{path: []string{o.block()}, admin: true, status: 204, other: 403},
				{path: []string{blockedByFile}, admin: true, status: 409, other: 403},
			}
		},
	}
}

// domain is a registered one without links.
func (o *owner) domain() string {
	o.t.Helper()
	host := o.stage.name("domain") + ".example"
	o.must("/domains", `{"host": "`+host+`"}`)
	return host
}

// block is a blocked host.
func (o *owner) block() string {
	o.t.Helper()
	host := o.stage.name("block") + ".example"
	o.must("/blocks", `{"host": "`+host+`"}`)
	return host
}
