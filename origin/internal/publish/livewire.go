package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"waypost/origin/internal/clicks"
	"waypost/shared/click"
)

// The bounds of messages between origins about live views.
const (
	maxLiveMessage = 64 << 10 // bytes
	maxLiveLinks   = 1_000    // that one origin watches
	maxOriginName  = 64       // bytes
)

var errLive = errors.New("message about live views is damaged")

// announcement is what an origin has in view.
type announcement struct {
	Origin string   `json:"origin"`
	Links  []uint64 `json:"links"` // link ids
}

// appliedMessage is clicks.Applied as it is sent. Members that a receiver does
// not know it passes over, so that versions may differ for a while.
type appliedMessage struct {
	Link   uint64         `json:"link"`
	Clicks uint64         `json:"clicks"`
	Bots   uint64         `json:"bots"`
	Newest []click.Recent `json:"newest"`
}

func appendAnnouncement(a announcement) []byte {
	b, _ := json.Marshal(a) // strings and numbers: it cannot fail
	return b
}

func parseAnnouncement(b []byte) (announcement, error) {
	var a announcement
	if err := parseLive(b, &a); err != nil {
		return announcement{}, err
	}
	if !isOriginName(a.Origin) || len(a.Links) > maxLiveLinks {
		return announcement{}, errLive
	}
	return a, nil
}

// isOriginName reports whether the name can be a token of a subject.
func isOriginName(name string) bool {
	return name != "" && len(name) <= maxOriginName && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-' && r != '_'
	})
}

func appendApplied(a clicks.Applied) []byte {
	b, _ := json.Marshal(appliedMessage{Link: a.Link, Clicks: a.Clicks, Bots: a.Bots, Newest: a.Newest}) // as in appendAnnouncement
	return b
}

func parseApplied(b []byte) (clicks.Applied, error) {
	var m appliedMessage
	if err := parseLive(b, &m); err != nil {
		return clicks.Applied{}, err
	}
	if m.Bots > m.Clicks || len(m.Newest) > click.MaxNewest {
		return clicks.Applied{}, errLive
	}
	return clicks.Applied{Link: m.Link, Tally: clicks.Tally{Clicks: m.Clicks, Bots: m.Bots}, Newest: m.Newest}, nil
}

func parseLive(b []byte, v any) error {
	if len(b) > maxLiveMessage {
		return errLive
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", errLive, err)
	}
	return nil
}
