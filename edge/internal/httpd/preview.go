package httpd

import (
	"html/template"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/shared/feed"
)

// previewPage shows where a link goes without going there.
//
//nolint:gochecknoglobals // parsed once, never changed
var previewPage = template.Must(template.New("preview").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Where {{.Code}} leads</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:15vh auto 0;padding:0 1rem}
dt{color:#666;margin-top:1rem}dd{margin:0;overflow-wrap:anywhere}
</style>
<h1>Where this short link leads</h1>
<dl>
<dt>Link<dd>{{.Code}}
<dt>Target<dd>{{if .Target}}<a rel="nofollow noopener noreferrer" href="{{.Target}}">{{.Target}}</a>{{else}}Shown to those who open the link, a limited number of times.{{end}}
{{with .Created}}<dt>Created<dd><time datetime="{{.}}">{{.}}</time>
{{end}}</dl>
</html>
`))

// preview is never counted and never redirects. Of a limited link it says no
// target: the entry has none.
func preview(ctx *fasthttp.RequestCtx, e *feed.Entry) {
	header := &ctx.Response.Header
	header.SetStatusCode(fasthttp.StatusOK)
	header.SetContentType("text/html; charset=utf-8")
	forbid(header)
	header.Set(fasthttp.HeaderContentSecurityPolicy, "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	header.Set(fasthttp.HeaderXContentTypeOptions, "nosniff")
	page := struct{ Code, Target, Created string }{Code: e.Key.Code, Target: e.Target}
	if e.CreatedAt != 0 {
		page.Created = time.UnixMicro(e.CreatedAt).UTC().Format(time.RFC3339)
	}
	// Writing into the response's own buffer cannot fail, and the fields are
	// strings.
	_ = previewPage.Execute(ctx.Response.BodyWriter(), page)
}
