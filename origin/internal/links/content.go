package links

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"waypost/shared/link"
)

// Content is all of a link that can be changed, in the names and words of the
// API, in which the history keeps it.
type Content struct {
	Target     string     `json:"target"`
	Status     int        `json:"status"`
	Enabled    bool       `json:"enabled"`
	Owner      string     `json:"owner"`
	Title      string     `json:"title"`
	Tags       []string   `json:"tags"` // never nil
	Query      string     `json:"query"`
	Suffix     string     `json:"suffix"`
	Class      string     `json:"class"`
	Clicks     string     `json:"clicks"`
	StartsAt   *time.Time `json:"starts_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	ExpiredURL *string    `json:"expired_url"`
	MaxClicks  *int64     `json:"max_clicks"`
}

// contentOf is the content of a link.
func contentOf(l *link.Link) Content {
	c := Content{
		Target: l.Target, Status: l.Status, Enabled: l.Enabled, Owner: l.Owner, Title: l.Title,
		Tags: append([]string{}, l.Tags...), Query: l.Query.String(), Suffix: l.Suffix.String(), Class: l.Class.String(),
		Clicks: "off", StartsAt: unlessZero(l.StartsAt), ExpiresAt: unlessZero(l.ExpiresAt),
		ExpiredURL: unlessZero(l.ExpiredURL), MaxClicks: unlessZero(l.MaxClicks),
	}
	if l.Clicks {
		c.Clicks = "on"
	}
	return c
}

func unlessZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// input asks for the whole content.
func (c *Content) input() *Input {
	return &Input{
		Target: Value(c.Target), Status: Value(int64(c.Status)), Enabled: Value(c.Enabled), Owner: Value(c.Owner),
		Title: Value(c.Title), Tags: Value(c.Tags), Query: Value(c.Query), Suffix: Value(c.Suffix), Class: Value(c.Class),
		Clicks: Value(c.Clicks), StartsAt: Field[time.Time]{Set: true, Value: c.StartsAt},
		ExpiresAt:  Field[time.Time]{Set: true, Value: c.ExpiresAt},
		ExpiredURL: Field[string]{Set: true, Value: c.ExpiredURL}, MaxClicks: Field[int64]{Set: true, Value: c.MaxClicks},
	}
}

// FieldChange is one field before and after a write, as JSON. From is nil where
// there was nothing before.
type FieldChange struct {
	From json.RawMessage `json:"from,omitempty"`
	To   json.RawMessage `json:"to"`
}

// Changes are the fields that a write changed, by their names.
type Changes map[string]FieldChange

// defaults is the content of a link that was made with nothing.
func defaults() *Content {
	return &Content{Status: 302, Enabled: true, Query: link.QueryOff.String(), Suffix: link.SuffixOff.String(), Class: link.Available.String(), Clicks: "on"}
}

// Encode is JSON: {name: {from, to}}, with URLs as they are.
func (c Changes) Encode() ([]byte, error) { return encode(map[string]FieldChange(c)) }

// changesTo are those that lead from one content to another. from is nil for a
// new link, of which they are the fields that are not at their defaults.
func changesTo(from, to *Content) (Changes, error) {
	before := from
	if from == nil {
		before = defaults()
	}
	changes := make(Changes)
	a, b := reflect.ValueOf(*before), reflect.ValueOf(*to)
	for i := range a.NumField() {
		name := a.Type().Field(i).Tag.Get("json")
		if same(a.Field(i).Interface(), b.Field(i).Interface()) {
			continue
		}
		var change FieldChange
		var err error
		if change.To, err = encode(b.Field(i).Interface()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if from != nil {
			if change.From, err = encode(a.Field(i).Interface()); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		changes[name] = change
	}
	return changes, nil
}

// same compares two values of one field.
func same(a, b any) bool {
	if tags, ok := a.([]string); ok && len(tags) == 0 {
		return len(b.([]string)) == 0 //nolint:forcetypeassert // of the same field
	}
	return reflect.DeepEqual(a, b)
}

// encode is JSON that leaves URLs readable.
func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(buf.Bytes()), nil
}

// revert takes changes back: the content after them becomes that before them.
func (c *Content) revert(changes Changes) error {
	before := make(map[string]json.RawMessage, len(changes))
	for name, change := range changes {
		before[name] = change.From
	}
	b, err := json.Marshal(before)
	if err != nil {
		return fmt.Errorf("revert: %w", err)
	}
	if err := json.Unmarshal(b, c); err != nil {
		return fmt.Errorf("revert: %w", err)
	}
	return nil
}
