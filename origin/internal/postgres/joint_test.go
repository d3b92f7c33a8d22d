package postgres

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// desk reads numbers from their names, in a second.
type desk struct {
	*joint[string, int]
	asked [][]string
	err   error
}

func newDesk() *desk {
	d := &desk{}
	d.joint = newJoint(5*time.Second, func(ctx context.Context, keys []string) (map[string]int, error) {
		d.asked = append(d.asked, slices.Sorted(slices.Values(keys)))
		time.Sleep(time.Second)
		return map[string]int{"one": 1, "two": 2}, errors.Join(d.err, ctx.Err())
	})
	return d
}

type reading struct {
	v   int
	ok  bool
	err error
}

// start asks for numbers, in this order.
func (d *desk) start(ctx context.Context, names ...string) []reading {
	got := make([]reading, len(names))
	for i, name := range names {
		go func() {
			defer func() { _ = recover() }()
			got[i].v, got[i].ok, got[i].err = d.read(ctx, name)
		}()
		synctest.Wait()
	}
	return got
}

// ask is start, and returns what was read once all of it is there.
func (d *desk) ask(ctx context.Context, names ...string) []reading {
	got := d.start(ctx, names...)
	quiet()
	return got
}

func TestAReadServesThoseWhoWaitedAndNoneThatCameLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		got := d.ask(t.Context(), "one", "two", "one", "two", "none")
		// The first two run at once; the others wait for the first to end.
		if want := [][]string{{"one"}, {"two"}, {"none", "one", "two"}}; !reflect.DeepEqual(d.asked, want) {
			t.Errorf("reads of %v, want %v", d.asked, want)
		}
		want := []reading{{v: 1, ok: true}, {v: 2, ok: true}, {v: 1, ok: true}, {v: 2, ok: true}, {}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestAReadGoesOnWithoutItsFirstCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.start(t.Context(), "one", "one")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second/2)
		defer cancel()
		first, second := d.start(ctx, "one", "two"), d.start(t.Context(), "two")
		quiet()
		if first[0] != (reading{v: 1, ok: true}) || !errors.Is(first[1].err, context.DeadlineExceeded) {
			t.Errorf("got %+v, want 1 for who ran it, and the end of its time for who waited", first)
		}
		if second[0] != (reading{v: 2, ok: true}) {
			t.Errorf("got %+v, want 2", second)
		}
	})
}

func TestTheErrorOfAReadIsThatOfAllItServes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.err = errors.New("down")
		for i, got := range d.ask(t.Context(), "one", "two", "one", "two") {
			if !errors.Is(got.err, d.err) {
				t.Errorf("reader %d got %+v, want %v", i, got, d.err)
			}
		}
	})
}

func TestAPanicOfAReadLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		calm := d.load
		d.load = func(ctx context.Context, keys []string) (map[string]int, error) {
			if slices.Contains(keys, "two") {
				panic("driver")
			}
			return calm(ctx, keys)
		}
		got := d.ask(t.Context(), "one", "one", "two", "one")
		if !errors.Is(got[3].err, errNoRead) {
			t.Errorf("got %+v, want errNoRead", got[3])
		}
		if got := d.ask(t.Context(), "one"); got[0].v != 1 {
			t.Errorf("got %+v, want 1", got[0])
		}
	})
}
