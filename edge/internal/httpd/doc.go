// Package httpd is the edge's public listener: it reads requests, asks the rule
// and writes answers. It is the only package that sees a RequestCtx.
package httpd
