package load

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 64 << 10

// answer is what a load wants to know of an answer. Its slices are those of what was read.
type answer struct {
	head     []byte // up to the end of its last line
	status   int
	location []byte // nil: none
	length   int    // of the body; −1: not told
	size     int    // of all of it
	closing  bool   // the server ends the connection after it
}

// read reads an answer out of what has come since its request was sent; whole is false while some of it has not come.
// It allocates nothing. What no load asks for is an error: more than one answer, a body in chunks or up to the
// connection's end, the end of the connection.
func read(b []byte) (a answer, whole bool, err error) {
	end := bytes.Index(b, []byte("\r\n\r\n"))
	if end < 0 {
		if len(b) >= maxAnswer {
			return answer{}, false, fmt.Errorf("a head of more than %d bytes: %.100q", maxAnswer, b)
		}
		return answer{}, false, nil
	}
	if a, err = readHead(b[:end+2]); err != nil {
		return answer{}, false, fmt.Errorf("%w: %.300q", err, b)
	}
	a.size = end + 4 + a.length
	switch {
	case a.size > maxAnswer:
		return answer{}, false, fmt.Errorf("an answer of %d bytes: %.300q", a.size, b)
	case len(b) > a.size:
		return answer{}, false, fmt.Errorf("more than one answer: %.300q", b)
	}
	return a, len(b) == a.size, nil
}

// readHead reads an answer's head, all of whose lines are whole.
func readHead(head []byte) (answer, error) {
	const version, statusEnd = "HTTP/1.1 ", len("HTTP/1.1 302")
	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	if len(line) < statusEnd || string(line[:len(version)]) != version {
		return answer{}, errors.New("no status line of HTTP/1.1")
	}
	status, ok := number(line[len(version):statusEnd])
	if !ok {
		return answer{}, errors.New("a status that is no number")
	}
	a := answer{head: head, status: status, length: -1}
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if err := a.readLine(line); err != nil {
			return answer{}, err
		}
	}
	switch {
	case a.closing:
		return answer{}, errors.New("the server ends the connection")
	case a.length < 0 && a.status != http.StatusNoContent && a.status != http.StatusNotModified:
		return answer{}, errors.New("an answer of unknown length")
	}
	a.length = max(a.length, 0)
	return a, nil
}

// readLine reads one of the lines of a head behind the first.
func (a *answer) readLine(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return errors.New("a line of the head without a colon")
	}
	switch {
	case is(name, "location"):
		a.location = bytes.TrimSpace(value)
	case is(name, "content-length"):
		length, ok := number(bytes.TrimSpace(value))
		if !ok {
			return errors.New("a Content-Length that is no number")
		}
		a.length = length
	case is(name, "transfer-encoding"):
		return errors.New("a body in chunks")
	case is(name, "connection"):
		a.closing = is(bytes.TrimSpace(value), "close")
	}
	return nil
}

// is compares regardless of case; lower is in lower case.
func is(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range b {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// number is one of up to nine digits.
func number(b []byte) (n int, ok bool) {
	if len(b) == 0 || len(b) > 9 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
