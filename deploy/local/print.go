package main

import (
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

// warn writes one line about a fault to stderr.
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

// welcome says where everything is and what to try.
func welcome(c config, key string) string {
	var b strings.Builder
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
		{"admin key", key},
	}
	b.WriteString("\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "  %-11s %s\n", row.what, row.where)
	}
	b.WriteString("\nTry:\n")
	fmt.Fprintf(&b, `  curl -sS http://%s/api/v1/links -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -d '{"target":"https://example.com/","alias":"hello"}'`+"\n",
		at(c.ports.originAPI), key)
	fmt.Fprintf(&b, "  curl -i http://%s/hello\n", at(c.ports.edgeEU))
	fmt.Fprintf(&b, "  curl -i http://%s/hello\n\n", at(c.ports.edgeUS))
	return b.String()
}
