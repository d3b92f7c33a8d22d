package contract

import (
	"encoding/json"
	"net/url"
	"strings"
)

// texts are strings that somebody will send one day: of all lengths and scripts, and such as mean something somewhere.
func texts() []string {
	return []string{
		"", " ", "x", "é", "日本語", "🙂", "e\u0301", "\u0301", "\u0000", "a\u0000b", "\u0001", "\n", "a\r\nX-Injected: b", "\t", "\u007f", "\u0085",
		"\u2028", "\u202e", "\ufeff", "\uffff", "'; DROP TABLE link; --", "%", "%00", "%zz", "../..", "<script>alert(1)</script>", "{{.}}", "${x}",
		"https://", "https://example.com/", "http://user@example.com/", "javascript:alert(1)", "file:///etc/passwd", "http://wp.example/loop", "http://[::1",
		"https://xn--/", "https://ex ample.com/", "example.com", "*.example.com", "-.example", "a..b", "127.0.0.1", "xn--a", "bücher.example", "_default",
		"NaN", "Infinity", "-Infinity", "null", "undefined", "true", "302", "1e400", "0x10", "-1", "+1", "1_000", "٣", "admin", "api", "on", "off", "edges",
		"2030-01-01T00:00:00Z", "2030-13-01T00:00:00Z", "2030-02-30", "2030-01-01", "0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z",
		"9999-12-31T23:59:59-23:59", "2030-01-01T00:00:00,5Z", "10000-01-01T00:00:00Z", "2030-01-01T0:00:00Z",
		"2030-01-01T00:00:00+24:00", "2030-01-01T00:00:00.000000001Z", "2030-01-01t00:00:00z", "2030-06-30T23:59:60Z", "W/\"1.1\"", "\"1.1\"", "*",
		strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("é", 129), strings.Repeat("x", 257), strings.Repeat("x", 9000),
		strings.Repeat("🙂", 3000), "https://example.com/" + strings.Repeat("é", 3000), strings.Repeat("a.", 300),
	}
}

// values are JSON of every type, and such as is read in two ways. None is the same as another.
func values() []string {
	all := []string{
		`null`, `true`, `false`, `0`, `1`, `-1`, `302`, `302.0`, `302.5`, `3.02e2`, `1e400`, `-1e400`, `-0`, `0.1`, `2147483648`, `4294967296`,
		`9223372036854775807`, `9223372036854775808`, `-9223372036854775809`, `1` + strings.Repeat("0", 400), `1e18`, `1e-400`,
		`{}`, `{"a": null}`, `[]`, `[null]`, `[1]`, `["a"]`, `["a", "a"]`, `["a", 1]`, `[["a"]]`, `[{}]`, `["\u0000"]`, `["\ud800"]`, `[""]`, `["links:read", "root"]`,
		`[` + strings.Repeat(`"x",`, 40) + `"y"]`, `[` + strings.Repeat(`"x",`, 1500) + `"y"]`,
		strings.Repeat(`[`, 2000) + strings.Repeat(`]`, 2000), strings.Repeat(`{"a":`, 2000) + `1` + strings.Repeat(`}`, 2000),
		`"\ud83d"`, `"\ude00"`, `"\ud83dx"`,
	}
	for _, text := range texts() {
		b, _ := json.Marshal(text) // texts
		all = append(all, string(b))
		if len(text) > 60 && len(text) < 70 {
			all = append(all, "["+string(b)+"]")
		}
	}
	return all
}

// parameterValues are values of a query's parameter as they stand in it.
func parameterValues() []string {
	all := []string{"%ff", "%C3%28", "%ED%A0%80", "%F4%90%80%80", "+", "a+b"} // bytes that are no UTF-8
	for _, text := range texts() {
		all = append(all, url.QueryEscape(text))
	}
	return all
}
