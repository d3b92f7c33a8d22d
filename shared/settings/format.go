package settings

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
)

// checkFormat holds text against a format tag; "" allows anything.
func checkFormat(format, text string) error {
	switch format {
	case "":
		return nil
	case "url":
		if !isURL(text) {
			return errors.New("is not a URL with scheme and host")
		}
	case "http":
		if !isURL(text, "http", "https") {
			return errors.New("is not an http or https URL")
		}
	case "address":
		if !isAddress(text) {
			return errors.New("is not host:port or :port")
		}
	default:
		return errType
	}
	return nil
}

// isURL says whether text is an absolute URL with a host, of one of the
// schemes if there are any.
func isURL(text string, schemes ...string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Hostname() == "" {
		return false
	}
	return len(schemes) == 0 || slices.Contains(schemes, u.Scheme)
}

// isAddress says whether text can be listened on or dialled; port 0 asks the
// system for a free one.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}
