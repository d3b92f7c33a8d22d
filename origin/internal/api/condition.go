package api

import (
	"strconv"
	"strings"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// etag names a link's version: "<epoch>.<version>", quotes included.
func etag(l *link.Link) string { return versionTag(links.Version{Epoch: l.Epoch, Seq: l.Version}) }

// versionTag is etag for whatever has versions.
func versionTag(v links.Version) string {
	return `"` + strconv.FormatUint(v.Epoch, 10) + "." + strconv.FormatUint(v.Seq, 10) + `"`
}

// ifMatch reads an If-Match header: nil asks for nothing. "*" asks for nothing
// either, since a link that is not there is refused anyway. Tags that are weak
// or none of ours match no version, so that a client which sends them is
// stopped and not obeyed.
func ifMatch(header string) []links.Version {
	header = strings.TrimSpace(header)
	if header == "" || header == "*" {
		return nil
	}
	versions := []links.Version{}
	for tag := range strings.SplitSeq(header, ",") {
		if v, ok := parseTag(strings.TrimSpace(tag)); ok {
			versions = append(versions, v)
		}
	}
	return versions
}

func parseTag(tag string) (v links.Version, ok bool) {
	tag, opened := strings.CutPrefix(tag, `"`)
	tag, closed := strings.CutSuffix(tag, `"`)
	epoch, seq, dotted := strings.Cut(tag, ".")
	if !opened || !closed || !dotted {
		return v, false
	}
	var err1, err2 error
	v.Epoch, err1 = strconv.ParseUint(epoch, 10, 64)
	v.Seq, err2 = strconv.ParseUint(seq, 10, 64)
	return v, err1 == nil && err2 == nil
}

// ifNoneMatch reports whether an If-None-Match header, compared weakly as
// RFC 9110 has it, names the tag: then the client holds what it asks for.
func ifNoneMatch(header, tag string) bool {
	for held := range strings.SplitSeq(header, ",") {
		held = strings.TrimPrefix(strings.TrimSpace(held), "W/")
		if held == "*" || held == tag {
			return true
		}
	}
	return false
}
