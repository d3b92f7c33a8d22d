package feed

import (
	"errors"
	"reflect"
	"testing"

	"waypost/shared/link"
)

func TestUseBytesRoundTrip(t *testing.T) {
	t.Parallel()
	taken, used, absent := liveEntry(), liveEntry(), &Entry{Epoch: 1, AsOf: 9, Key: link.Key{Code: "never"}}
	taken.Limited, used.Limited, used.Target = true, true, ""
	for name, want := range map[string]*Use{
		"taken": {Verdict: UseTaken, Entry: taken}, "used up": {Verdict: UsedUp, Entry: used},
		"not limited": {Verdict: UseNone, Entry: liveEntry()}, "absent": {Verdict: UseNone, Entry: absent},
	} {
		b := want.Append(nil)
		got, err := ParseUse(b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
		for n := range b {
			if _, err := ParseUse(b[:n]); !errors.Is(err, ErrFormat) {
				t.Errorf("%s, first %d of %d bytes: got error %v, want ErrFormat", name, n, len(b), err)
			}
		}
	}
}

func TestAUseThatLeadsNowhereIsRefused(t *testing.T) {
	t.Parallel()
	hidden, disabled, absent := liveEntry(), liveEntry(), &Entry{Epoch: 1, Key: link.Key{Code: "gone"}}
	hidden.Limited, hidden.Target, disabled.State = true, "", Disabled
	for name, u := range map[string]*Use{
		"taken without a target": {Verdict: UseTaken, Entry: hidden},
		"taken of a disabled":    {Verdict: UseTaken, Entry: disabled},
		"taken of an absent":     {Verdict: UseTaken, Entry: absent},
		"used up, but absent":    {Verdict: UsedUp, Entry: absent},
		"an unknown verdict":     {Verdict: UseNone + 1, Entry: liveEntry()},
	} {
		if _, err := ParseUse(u.Append(nil)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
	}
}
