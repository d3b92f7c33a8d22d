package contract

import "fmt"

// linkSamples are those of links themselves.
func linkSamples() map[string]func(o *owner) []call {
	return map[string]func(o *owner) []call{
		"createLink": func(o *owner) []call {
			taken, reused := o.link(), o.body(`"reuse": true, "status": 307`)
			return []call{
				{body: o.body(), status: 201, other: 403},
				{body: `{"target": "https://example.com/"}`, status: 201, other: 201},
				{body: o.body(), query: "qr=data&ack=commit", header: map[string]string{"Idempotency-Key": o.name}, status: 201, other: 403},
				{body: o.body(), query: "qr=data&ack=commit", header: map[string]string{"Idempotency-Key": o.name}, status: 201, other: 403},
				{body: reused, status: 201, other: 403},
				{body: reused, status: 200, other: 403},
				{body: `{"target": "https://example.com/", "alias": "` + taken.code + `"}`, status: 409, other: 409},
			}
		},
		"listLinks": func(o *owner) []call {
			made := o.link()
			return []call{
				{status: 200, other: 200},
				{query: "tag=" + o.mark + "&sort=created_at&limit=1", status: 200, other: 200},
				{query: "q=" + made.code, status: 200, other: 200},
				{query: "owner=" + o.name, status: 200, other: 200, otherHas: `"items":[]`},
				{query: "domain=", status: 200, other: 200},
				{query: "domain=_default", status: 200, other: 200},
				{query: "sort=clicks", status: 200, other: 200},
			}
		},
		"createLinks": func(o *owner) []call {
			taken := o.link()
			return []call{
				{body: `{"items": [` + o.body() + `]}`, status: 200, other: 200},
				{body: `{"items": [{"target": "ftp://example.com/"}, {"target": "https://example.com/", "alias": "` + taken.code + `"}, 7]}`, status: 200, other: 200},
			}
		},
		"getLink": func(o *owner) []call {
			l := o.link()
			return []call{
				{path: []string{l.code}, status: 200, other: 404},
				{path: []string{l.code}, header: map[string]string{"If-None-Match": l.etag}, status: 304, other: 404},
				{path: []string{l.code}, query: "domain=_default", status: 200, other: 404},
				{path: []string{l.code}, query: "domain=" + domain, status: 404, other: 404},
			}
		},
		"changeLink": func(o *owner) []call {
			l := o.link()
			return []call{
				{path: []string{l.code}, body: `{"title": "changed"}`, header: map[string]string{"If-Match": l.etag}, status: 200, other: 404},
				{path: []string{l.code}, body: `{"title": "too late"}`, header: map[string]string{"If-Match": l.etag}, status: 412, other: 404},
				{path: []string{l.code}, body: `{"status": 301, "starts_at": null}`, query: "ack=commit", status: 200, other: 404},
			}
		},
		"deleteLink": func(o *owner) []call {
			l := o.link()
			return []call{
				{path: []string{o.link().code}, status: 204, other: 404},
				{path: []string{l.code}, header: map[string]string{"If-Match": `"1.999999"`}, status: 412, other: 404},
				{path: []string{l.code}, header: map[string]string{"If-Match": l.etag}, status: 204, other: 404},
			}
		},
		"purge": func(o *owner) []call {
			l := o.link()
			return []call{
				{body: `{"codes": ["` + l.code + `", "nothing-here"]}`, status: 200, other: 200, otherHas: `"purged":0`},
				{body: `{"tag": "` + o.mark + `"}`, query: "ack=commit", status: 200, other: 200, otherHas: `"purged":0`},
				{body: `{"all": true}`, admin: true, status: 200, other: 403},
			}
		},
		"linkQR": func(o *owner) []call {
			l := o.link()
			return []call{
				{path: []string{l.code}, status: 200, other: 404},
				{path: []string{l.code}, query: "format=svg&size=512&margin=0&level=H", status: 200, other: 404},
				{path: []string{l.code}, header: map[string]string{"If-None-Match": "*"}, status: 304, other: 404},
			}
		},
		"linkHistory": func(o *owner) []call {
			l := o.changed()
			return []call{
				{path: []string{l.code}, status: 200, other: 404},
				{path: []string{l.code}, query: "limit=1", status: 200, other: 404},
			}
		},
		"rollbackLink": func(o *owner) []call {
			l := o.changed()
			first := fmt.Sprintf(`{"version": %d}`, l.Version)
			return []call{
				{path: []string{l.code}, body: first, status: 200, other: 404},
				{path: []string{l.code}, body: first, header: map[string]string{"If-Match": l.etag}, status: 412, other: 404},
				{path: []string{l.code}, body: `{"version": 999999}`, status: 422, other: 404},
			}
		},
	}
}
