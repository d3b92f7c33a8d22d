package postgres

import (
	"encoding/json"
	"fmt"
	"time"

	"waypost/shared/link"
)

// answerFormat is the format of answers as they are written. Those of a release
// that did not write one are of the same form.
const answerFormat = 1

// answer is a link as the table once keeps it, for origins of other releases too.
// Its names are those in the stored form and stay, whatever becomes of the fields
// of link.Link; policies are numbers of package link's.
type answer struct {
	Format     int         `json:"Format"`
	ID         int64       `json:"ID"`
	Key        answerKey   `json:"Key"`
	Target     string      `json:"Target"`
	Status     int         `json:"Status"`
	Enabled    bool        `json:"Enabled"`
	Owner      string      `json:"Owner"`
	Title      string      `json:"Title"`
	Tags       []string    `json:"Tags"`
	Query      link.Query  `json:"Query"`
	Suffix     link.Suffix `json:"Suffix"`
	Class      link.Class  `json:"Class"`
	Clicks     bool        `json:"Clicks"`
	StartsAt   time.Time   `json:"StartsAt"`
	ExpiresAt  time.Time   `json:"ExpiresAt"`
	ExpiredURL string      `json:"ExpiredURL"`
	MaxClicks  int64       `json:"MaxClicks"`
	CreatedAt  time.Time   `json:"CreatedAt"`
	UpdatedAt  time.Time   `json:"UpdatedAt"`
	DeletedAt  time.Time   `json:"DeletedAt"`
	Epoch      uint64      `json:"Epoch"`
	Version    uint64      `json:"Version"`
}

type answerKey struct {
	Domain string `json:"Domain"`
	Code   string `json:"Code"`
}

// encodeAnswer returns the stored form of a link.
func encodeAnswer(l *link.Link) (string, error) {
	stored, err := json.Marshal(&answer{
		Format: answerFormat, ID: l.ID, Key: answerKey(l.Key), Target: l.Target, Status: l.Status, Enabled: l.Enabled,
		Owner: l.Owner, Title: l.Title, Tags: l.Tags, Query: l.Query, Suffix: l.Suffix, Class: l.Class, Clicks: l.Clicks,
		StartsAt: l.StartsAt, ExpiresAt: l.ExpiresAt, ExpiredURL: l.ExpiredURL, MaxClicks: l.MaxClicks,
		CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt, DeletedAt: l.DeletedAt, Epoch: l.Epoch, Version: l.Version,
	})
	if err != nil {
		return "", fmt.Errorf("answer of %s: %w", l.Key, err)
	}
	return string(stored), nil
}

// decodeAnswer is the inverse of encodeAnswer. A format that this release does not
// know is link.ErrUnavailable: the origin that wrote it can answer, and nothing is
// made twice meanwhile.
func decodeAnswer(stored []byte) (link.Link, error) {
	var a answer
	if err := json.Unmarshal(stored, &a); err != nil {
		return link.Link{}, fmt.Errorf("answer: %w", err)
	}
	if a.Format > answerFormat {
		return link.Link{}, fmt.Errorf("answer in format %d, of a newer release: %w", a.Format, link.ErrUnavailable)
	}
	return link.Link{
		ID: a.ID, Key: link.Key(a.Key), Target: a.Target, Status: a.Status, Enabled: a.Enabled,
		Owner: a.Owner, Title: a.Title, Tags: a.Tags, Query: a.Query, Suffix: a.Suffix, Class: a.Class, Clicks: a.Clicks,
		StartsAt: a.StartsAt, ExpiresAt: a.ExpiresAt, ExpiredURL: a.ExpiredURL, MaxClicks: a.MaxClicks,
		CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, DeletedAt: a.DeletedAt, Epoch: a.Epoch, Version: a.Version,
	}, nil
}
