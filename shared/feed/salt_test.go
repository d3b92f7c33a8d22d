package feed

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func headsWithSalts() *Heads {
	h := &Heads{Epoch: 2, Now: 77, Salts: []Salt{{Day: -1}, {Day: 20_000}}}
	h.Seq[0], h.Seq[ConfigShard] = 1<<60, 3
	h.Salts[0].Key[0], h.Salts[1].Key[SaltSize-1] = 0xAB, 0xCD
	return h
}

func TestHeadsBytesRoundTrip(t *testing.T) {
	t.Parallel()
	none, one := headsWithSalts(), headsWithSalts()
	none.Salts, one.Salts = nil, one.Salts[:1]
	for name, want := range map[string]*Heads{"no salt": none, "one": one, "today's and tomorrow's": headsWithSalts()} {
		got, err := ParseHeads(want.Append(nil))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
}

func TestHeadsRefuseDamagedSalts(t *testing.T) {
	t.Parallel()
	good := headsWithSalts().Append(nil)
	without := headsWithSalts()
	without.Salts = nil
	bare := without.Append(nil)
	for n := range good {
		_, err := ParseHeads(good[:n])
		if n != len(bare) && !errors.Is(err, ErrFormat) {
			t.Errorf("first %d of %d bytes: got error %v, want ErrFormat", n, len(good), err)
		}
	}
	for name, salts := range map[string][]Salt{
		"too many": {{Day: 1}, {Day: 2}, {Day: 3}}, "one day twice": {{Day: 1}, {Day: 1}}, "days the other way": {{Day: 2}, {Day: 1}},
	} {
		h := headsWithSalts()
		h.Salts = salts
		if _, err := ParseHeads(h.Append(nil)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
	}
	for name, b := range map[string][]byte{
		"a byte too many": append(slices.Clone(good), 0),
		"a count of 0":    append(slices.Clone(bare), 0),
	} {
		if _, err := ParseHeads(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
	}
}

func TestASaltPrintsNoKey(t *testing.T) {
	t.Parallel()
	s := Salt{Day: 5}
	for i := range s.Key {
		s.Key[i] = 0xEE
	}
	for _, verb := range []string{"%v", "%+v", "%s", "%x"} {
		if got := fmt.Sprintf(verb, &Heads{Salts: []Salt{s}}); strings.Contains(got, "238") || strings.Contains(got, "eeee") {
			t.Errorf("%s prints %q, which has the key", verb, got)
		}
	}
}

func TestDaysBeginAtMidnightUTC(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	const want = 20_513 // date -d 2026-03-01 +%s, over 86,400
	for _, tt := range []struct {
		at   time.Time
		want int64
	}{
		{midnight.Add(-time.Microsecond), want - 1},
		{midnight, want},
		{midnight.Add(24*time.Hour - time.Microsecond), want},
		{midnight.Add(24 * time.Hour), want + 1},
		{time.UnixMicro(0), 0},
		{time.UnixMicro(-1), -1},
		{time.UnixMicro(0).Add(-24 * time.Hour), -1},
	} {
		if got := Day(tt.at.UnixMicro()); got != tt.want {
			t.Errorf("day of %v: got %d, want %d", tt.at.UTC(), got, tt.want)
		}
	}
}
