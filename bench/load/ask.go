package load

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// Ask is a GET as it goes over the wire, made beforehand, and the answer that it must get.
type Ask struct {
	Request  []byte
	Status   int
	Location []byte // of the answer; empty: it must have none
}

// Redirect asks for a path and must be sent on to location by a 302. lines are the head's lines beside Host, without
// their ends.
func Redirect(path, location string, lines ...string) Ask {
	var b strings.Builder
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: localhost\r\n", path)
	for _, line := range lines {
		b.WriteString(line + "\r\n")
	}
	b.WriteString("\r\n")
	return Ask{Request: []byte(b.String()), Status: http.StatusFound, Location: []byte(location)}
}

// check is an error unless the answer is the one that was asked for.
func (a *Ask) check(got answer) error {
	if got.status != a.Status || !bytes.Equal(got.location, a.Location) {
		return fmt.Errorf("%.100q: got status %d, location %.200q; want status %d, location %.200q",
			a.Request, got.status, got.location, a.Status, a.Location)
	}
	return nil
}
