package links

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// targets are the rules of URLs that links, and domains, lead to: those of
// package link, and what is on the config shard.
type targets struct {
	link.TargetRules
	config *feed.Config
	also   string // a domain that is about to be registered; "" for none
}

// parse returns the stored form of a URL. The error's text is the reason of a
// refusal.
func (t targets) parse(raw string) (string, error) {
	stored, err := t.parseAlone(raw)
	if err != nil {
		return "", err
	}
	host := link.TargetHost(stored)
	switch {
	case host == "":
	case host == t.also, t.config.Domain([]byte(host)) != nil:
		return "", errors.New("must not lead back to this service")
	case t.config.Blocks().Blocked(host):
		return "", errors.New("leads to a host that is blocked")
	}
	return stored, nil
}

// parseAlone is link.ParseTarget, whose refusal of a scheme it completes with
// those that are allowed here. The scheme is at fault where to allow it would
// change the verdict.
func (t targets) parseAlone(raw string) (string, error) {
	stored, err := link.ParseTarget(raw, t.TargetRules)
	if err == nil {
		return stored, nil
	}
	scheme, _, _ := strings.Cut(raw, ":")
	wider := t.TargetRules
	wider.Schemes = append(slices.Clone(wider.Schemes), scheme)
	if _, then := link.ParseTarget(raw, wider); errors.Is(then, err) {
		return "", err
	}
	allowed := append([]string{"http", "https"}, t.Schemes...)
	last := len(allowed) - 1
	return "", fmt.Errorf("%w: it must be %s or %s", err, strings.Join(allowed[:last], ", "), allowed[last])
}
