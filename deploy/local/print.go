package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
)

// printer writes the launcher's own lines. Safe for concurrent use: a line is never mixed with another.
type printer struct {
	mu       sync.Mutex
	out, err io.Writer
}

// info writes one line of progress to stdout.
func (p *printer) info(format string, v ...any) { p.line(p.out, format, v) }

// warn writes one line about a fault, or its end, to stderr.
func (p *printer) warn(format string, v ...any) { p.line(p.err, format, v) }

func (p *printer) line(w io.Writer, format string, v []any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(w, "waypost: "+format+"\n", v...)
}

// text writes text as it is to stdout.
func (p *printer) text(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.out, s)
}

// welcome says where everything is and what to try, or how to get a key where key is "". The alias to try is another
// one at each start, since that of an earlier one is taken.
func welcome(c config, key string) string {
	var b strings.Builder
	alias := "hello-" + strings.ToLower(rand.Text()[:4])
	shown := key
	if key == "" {
		shown = "none that is valid in " + c.keyPath() + "; make one:\n\n  " + rescue(c)
	}
	rows := []struct{ what, where string }{
		{"edge eu", "http://" + at(c.ports.edgeEU) + "   ops http://" + at(c.ports.opsEU)},
		{"edge us", "http://" + at(c.ports.edgeUS) + "   ops http://" + at(c.ports.opsUS)},
		{"origin API", "http://" + at(c.ports.originAPI) + "/api/v1   ops http://" + at(c.ports.opsOrigin)},
		{"API docs", "http://" + at(c.ports.originAPI) + "/docs"},
		{"internal", "http://" + at(c.ports.originInternal)},
		{"PostgreSQL", at(c.ports.postgres)},
		{"Redis", "eu " + at(c.ports.redisEU) + ", us " + at(c.ports.redisUS)},
		{"NATS", at(c.ports.nats)},
		{"data, logs", c.data + ", " + c.path("logs")},
		{"admin key", shown},
	}
	b.WriteString("\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "  %-11s %s\n", row.what, row.where)
	}
	b.WriteString("\nTry:\n")
	fmt.Fprintf(&b, `  curl -sS http://%s/api/v1/links -H "Authorization: Bearer %s" -H 'Content-Type: application/json' -d '{"target":"https://example.com/","alias":"%s"}'`+"\n",
		at(c.ports.originAPI), bearer(c, key), alias)
	fmt.Fprintf(&b, "  curl -i http://%s/%s\n", at(c.ports.edgeEU), alias)
	fmt.Fprintf(&b, "  curl -i http://%s/%s\n\n", at(c.ports.edgeUS), alias)
	return b.String()
}
