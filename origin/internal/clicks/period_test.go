package clicks

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"waypost/shared/link"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// now is a Tuesday.
func now(t *testing.T) time.Time {
	t.Helper()
	return at(t, "2026-03-10T15:04:05.678Z")
}

func TestPeriodsAreReadAsRangesOfWholeHours(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, wantFrom, wantTo string }{
		"nothing":                {"", "", "2026-03-04T00:00:00Z", "2026-03-11T00:00:00Z"},
		"a day":                  {"2026-02-03", "2026-02-03", "2026-02-03T00:00:00Z", "2026-02-04T00:00:00Z"},
		"days":                   {"2026-02-03", "2026-02-05", "2026-02-03T00:00:00Z", "2026-02-06T00:00:00Z"},
		"the end of a month":     {"2026-01-31", "2026-02-01", "2026-01-31T00:00:00Z", "2026-02-02T00:00:00Z"},
		"the end of a year":      {"2025-12-31", "2026-01-01", "2025-12-31T00:00:00Z", "2026-01-02T00:00:00Z"},
		"a leap day":             {"2024-02-29", "2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
		"no end":                 {"2026-03-10", "", "2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z"},
		"no beginning":           {"", "2026-03-01", "2026-02-23T00:00:00Z", "2026-03-02T00:00:00Z"},
		"no beginning, an hour":  {"", "2026-03-01T10:30:00Z", "2026-02-23T00:00:00Z", "2026-03-01T11:00:00Z"},
		"no beginning, midnight": {"", "2026-03-01T00:00:00Z", "2026-02-22T00:00:00Z", "2026-03-01T00:00:00Z"},
		"whole hours":            {"2026-03-01T01:00:00Z", "2026-03-01T02:00:00Z", "2026-03-01T01:00:00Z", "2026-03-01T02:00:00Z"},
		"parts of hours":         {"2026-03-01T01:59:59.999999Z", "2026-03-01T02:00:00.000001Z", "2026-03-01T01:00:00Z", "2026-03-01T03:00:00Z"},
		"within one hour":        {"2026-03-01T01:10:00Z", "2026-03-01T01:20:00Z", "2026-03-01T01:00:00Z", "2026-03-01T02:00:00Z"},
		"another zone":           {"2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-29T00:00:00Z", "2026-03-29T02:00:00Z"},
		"a date and a time":      {"2026-03-01", "2026-03-01T12:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T12:00:00Z"},
		"the future":             {"2027-01-01", "2027-01-02", "2027-01-01T00:00:00Z", "2027-01-03T00:00:00Z"},
		"the first day":          {"1970-01-01", "1970-01-01", "1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z"},
		"the last day":           {"2999-12-31", "2999-12-31", "2999-12-31T00:00:00Z", "3000-01-01T00:00:00Z"},
		"as many days as may be": {"2023-03-07", "2026-03-10", "2023-03-07T00:00:00Z", "2026-03-11T00:00:00Z"},
	} {
		q, err := Period{From: c.from, To: c.to}.query(now(t), maxDays)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := q.Range, (Range{From: at(t, c.wantFrom), To: at(t, c.wantTo)}); !got.From.Equal(want.From) || !got.To.Equal(want.To) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if q.Range.From.Location() != time.UTC || q.Range.To.Location() != time.UTC {
			t.Errorf("%s: %v is not in UTC", name, q.Range)
		}
	}
}

func TestTheDayOfHoursIsTodayUnlessAsked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "2026-03-10T00:00:00Z", "2024-02-29": "2024-02-29T00:00:00Z",
		"2026-01-01T23:59:59Z": "2026-01-01T00:00:00Z", "2026-01-01T23:30:00-01:00": "2026-01-02T00:00:00Z",
	} {
		q, err := Period{Day: text}.query(now(t), maxDays)
		if err != nil || !q.Day.Equal(at(t, want)) || !q.Today.Equal(at(t, "2026-03-10T00:00:00Z")) {
			t.Errorf("day %q: %v, today %v, %v, want %s", text, q.Day, q.Today, err, want)
		}
	}
}

func TestPeriodsThatAreNoneAreRefusedByField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		period Period
		want   []string
	}{
		"reversed":             {Period{From: "2026-03-02", To: "2026-03-01"}, []string{"from"}},
		"reversed in one hour": {Period{From: "2026-03-02T01:20:00Z", To: "2026-03-02T01:10:00Z"}, []string{"from"}},
		"empty":                {Period{From: "2026-03-02T01:00:00Z", To: "2026-03-02T01:00:00Z"}, []string{"from"}},
		"the future, no end":   {Period{From: "2026-03-11"}, []string{"from"}},
		"too long":             {Period{From: "2023-03-06", To: "2026-03-10"}, []string{"from"}},
		"too long by an hour":  {Period{From: "2023-03-06T23:00:00Z", To: "2026-03-10"}, []string{"from"}},
		"unparsable":           {Period{From: "yesterday", To: "2026-13-01", Day: "2026-02-30"}, []string{"day", "to", "from"}},
		"no leap day":          {Period{From: "2026-02-29", To: "2026-03-01"}, []string{"from"}},
		"a plus as a space":    {Period{From: "2026-03-01T00:00:00 02:00"}, []string{"from"}},
		"a number":             {Period{To: "1767225600"}, []string{"to"}},
		"before 1970":          {Period{From: "1969-12-31", To: "1970-01-02"}, []string{"from"}},
		"year 0":               {Period{From: "0000-01-01T00:00:00Z", To: "9999-12-31T23:59:59Z"}, []string{"to", "from"}},
		"after 2999":           {Period{From: "2999-12-31", To: "3000-01-01"}, []string{"to"}},
		"a long text":          {Period{Day: strings.Repeat("2", 1000)}, []string{"day"}},
	} {
		_, err := c.period.query(now(t), maxDays)
		invalid, ok := errors.AsType[*link.InvalidError](err)
		if !ok {
			t.Errorf("%s: %v, want an InvalidError", name, err)
			continue
		}
		var fields []string
		for _, f := range invalid.Fields {
			fields = append(fields, f.Field)
			if f.Reason == "" || len(f.Reason) > 200 {
				t.Errorf("%s: reason %q", name, f.Reason)
			}
		}
		if !slices.Equal(fields, c.want) {
			t.Errorf("%s: fields %v, want %v", name, fields, c.want)
		}
	}
}

func FuzzPeriod(f *testing.F) {
	f.Add("2026-03-01", "2026-03-02T01:02:03+14:00", "")
	f.Add("", "1970-01-01", "2999-12-31")
	f.Fuzz(func(t *testing.T, from, to, day string) {
		q, err := Period{From: from, To: to, Day: day}.query(now(t), maxDays)
		if err != nil {
			return
		}
		r, days := q.Range, q.Range.touches()
		if days < 1 || days > maxDays || !r.From.Before(r.To) || !midnight(q.Day).Equal(q.Day) ||
			!r.From.Truncate(time.Hour).Equal(r.From) || !r.To.Truncate(time.Hour).Equal(r.To) {
			t.Errorf("%q to %q is %+v of %d days", from, to, q, days)
		}
		s := Stats{Range: r}
		if s.fill(); len(s.Days) != days || len(s.Visitors) != days {
			t.Errorf("%+v of %d days is filled with %d and %d", r, days, len(s.Days), len(s.Visitors))
		}
	})
}
