package links

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"waypost/shared/link"
)

// maxTTL is the longest time to live, in seconds: 100 years.
const maxTTL = 100 * 36525 * 24 * 36

// The errors of the parsers below are reasons of a refusal, in words for the
// caller.

func asGiven[T any](v T) (T, error) { return v, nil }

func parseStatus(n int64) (int, error) {
	if n > 999 || !link.ValidStatus(int(n)) {
		return 0, errors.New("must be 301, 302, 307 or 308")
	}
	return int(n), nil
}

func parseOwner(s string) (string, error) { return parseText(s, link.MaxOwner) }

func parseTitle(s string) (string, error) { return parseText(s, link.MaxTitle) }

// parseText checks a line of text: what PostgreSQL can store and a list can
// show.
func parseText(s string, most int) (string, error) {
	switch {
	case !utf8.ValidString(s):
		return "", errors.New("is not valid UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return "", errors.New("must not have control characters")
	case utf8.RuneCountInString(s) > most:
		return "", fmt.Errorf("must have at most %d characters", most)
	}
	return s, nil
}

// parseTags keeps the first of equal tags, in the order given.
func parseTags(given []string) ([]string, error) {
	if len(given) > link.MaxTags {
		return nil, fmt.Errorf("must have at most %d items", link.MaxTags)
	}
	var tags []string
	for i, tag := range given {
		_, err := parseText(tag, link.MaxTag)
		switch {
		case err != nil:
			return nil, fmt.Errorf("item %d %w", i+1, err)
		case tag == "":
			return nil, fmt.Errorf("item %d must not be empty", i+1)
		case !slices.Contains(tags, tag):
			tags = append(tags, tag)
		}
	}
	return tags, nil
}

func parseQuery(s string) (link.Query, error) {
	q, ok := link.ParseQuery(s)
	return q, unless(ok, "must be off, append, request or target")
}

func parseSuffix(s string) (link.Suffix, error) {
	x, ok := link.ParseSuffix(s)
	return x, unless(ok, "must be off or append")
}

func parseClass(s string) (link.Class, error) {
	c, ok := link.ParseClass(s)
	return c, unless(ok, "must be available or strict")
}

func parseClicks(s string) (bool, error) {
	return s == "on", unless(s == "on" || s == "off", "must be on or off")
}

func unless(ok bool, reason string) error {
	if ok {
		return nil
	}
	return errors.New(reason)
}

// parseInstant returns t as it is stored: UTC, whole microseconds. On the wire
// to the edges 0 microseconds since 1970 means "not set", and JSON knows no year
// above 9999.
func parseInstant(t time.Time) (time.Time, error) {
	t = t.UTC().Truncate(time.Microsecond)
	if t.UnixMicro() <= 0 || t.Year() > 9999 {
		return time.Time{}, errors.New("must be after 1970-01-01T00:00:00Z and before the year 10000")
	}
	return t, nil
}

func parseMaxClicks(n int64) (int64, error) {
	return n, unless(n >= 1, "must be at least 1")
}

// parseKind returns the name of a code generator.
func parseKind(s string) (string, error) {
	ok := s == KindRandom || s == KindSnowflake || s == KindCounter
	return s, unless(ok, "must be random, snowflake or counter")
}
