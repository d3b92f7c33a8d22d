package spool

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// three is a log of three segments.
func three() [][]string {
	return [][]string{{"a1", "a2 is longer"}, {"b1 is still longer", "b2"}, {"c1", "c2", "c3 is the last one"}}
}

func edit(tb testing.TB, path string, f func([]byte) []byte) {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, f(b), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func TestALogIsReadOnAsItWasLeft(t *testing.T) {
	t.Parallel()
	all := slices.Concat(three()...)
	header := headerSize("20260102T030405.678Z-0123456789abcdef", "eu")
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte { b[at] ^= 1; return b }
	}
	for name, c := range map[string]struct {
		damage  func(tb testing.TB, paths []string)
		want    []string
		damaged uint64 // segments
		label   string
	}{
		"whole": {func(testing.TB, []string) {}, all, 0, "eu"},
		"a damaged payload takes the rest of its segment": {
			func(tb testing.TB, p []string) { tb.Helper(); edit(tb, p[0], flip(header+8)) },
			all[2:], 1, "eu",
		},
		"a damaged length": {
			func(tb testing.TB, p []string) { tb.Helper(); edit(tb, p[1], flip(header+1)) },
			slices.Concat(all[:2], all[4:]), 1, "eu",
		},
		"a damaged header": {
			func(tb testing.TB, p []string) { tb.Helper(); edit(tb, p[1], flip(30)) },
			slices.Concat(all[:2], all[4:]), 1, "eu",
		},
		"damage in the last segment": {
			func(tb testing.TB, p []string) { tb.Helper(); edit(tb, p[2], flip(header+24)) },
			all[:5], 1, "eu",
		},
		"no first segment": {
			func(tb testing.TB, p []string) { tb.Helper(); _ = os.Remove(p[0]) },
			all[2:], 0, "eu",
		},
		"no middle segment": {
			func(tb testing.TB, p []string) { tb.Helper(); _ = os.Remove(p[1]) },
			slices.Concat(all[:2], all[4:]), 1, "eu",
		},
		"an empty last segment": {
			func(tb testing.TB, p []string) { tb.Helper(); edit(tb, p[2], func([]byte) []byte { return nil }) },
			all[:4], 0, "eu",
		},
		"an empty middle segment": {
			func(tb testing.TB, p []string) { tb.Helper(); edit(tb, p[1], func([]byte) []byte { return nil }) },
			slices.Concat(all[:2], all[4:]), 1, "eu",
		},
		"a last segment of a header only": {
			func(tb testing.TB, p []string) {
				tb.Helper()
				edit(tb, p[2], func(b []byte) []byte { return b[:header] })
			},
			all[:4], 0, "eu",
		},
		"zeros after the last frame, of a power cut": {
			func(tb testing.TB, p []string) {
				tb.Helper()
				edit(tb, p[2], func(b []byte) []byte { return append(b, make([]byte, 5000)...) })
			},
			all, 1, "eu",
		},
		"a segment that could not be cut where the next begins": {
			func(tb testing.TB, p []string) {
				tb.Helper()
				edit(tb, p[1], func(b []byte) []byte { return append(b, addFrame(nil, []byte("c1"))...) })
			},
			all, 0, "eu",
		},
		"a segment of another log": {
			func(tb testing.TB, p []string) {
				tb.Helper()
				edit(tb, p[1], func(b []byte) []byte { return bytes.Replace(b, []byte("0123"), []byte("3210"), 1) })
			},
			slices.Concat(all[:2], all[4:]), 1, "eu",
		},
		"no header at all": {
			func(tb testing.TB, p []string) {
				tb.Helper()
				for _, path := range p {
					edit(tb, path, flip(0))
				}
			},
			nil, 3, "",
		},
		"files of others": {
			func(tb testing.TB, p []string) {
				tb.Helper()
				dir := filepath.Dir(p[0])
				for _, path := range []string{
					filepath.Join(dir, "notes"), filepath.Join(dir, "0.clicks"), filepath.Join(dir, "000000000000000G.clicks"),
					filepath.Join(dir, "..", "notes"), filepath.Join(dir, "..", "20260102T030405.678Z-0123456789abcde"),
				} {
					if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
						tb.Fatal(err)
					}
				}
				if err := os.MkdirAll(filepath.Join(dir, "..", "lost+found"), 0o700); err != nil {
					tb.Fatal(err)
				}
			},
			all, 0, "eu",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, paths := older(t, three())
			c.damage(t, paths)
			s := reopen(t, dir)
			logs := s.Logs()
			if len(logs) != 2 {
				t.Fatalf("got %d logs, want the older and the own", len(logs))
			}
			if got := payloads(t, logs[0]); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			payloads(t, logs[0]) // damage counts once
			if got := s.Stats().Damaged; got != c.damaged {
				t.Errorf("got %d damaged segments, want %d", got, c.damaged)
			}
			if got := logs[0].Label(); got != c.label {
				t.Errorf("got label %q, want %q", got, c.label)
			}
		})
	}
}

func TestATornTailIsCutAtAnyByte(t *testing.T) {
	t.Parallel()
	dir, paths := older(t, three())
	whole, err := os.ReadFile(paths[2])
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(three()...)
	last := int(frameBytes(len(all[6])))
	for cut := range last {
		if err := os.WriteFile(paths[2], whole[:len(whole)-last+cut], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		l := s.Logs()[0]
		if got := payloads(t, l); !slices.Equal(got, all[:6]) {
			t.Errorf("%d of %d bytes of the last frame: got %q, want %q", cut, last, got, all[:6])
		}
		if got := s.Stats().Damaged; got != 0 {
			t.Errorf("%d of %d bytes of the last frame: got damage, want a torn tail", cut, last)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A power cut can take from a log what has been shipped already.
func TestAReadFromBeyondTheEndStaysThere(t *testing.T) {
	t.Parallel()
	dir, _ := older(t, three())
	l := reopen(t, dir).Logs()[0]
	beyond := l.End() + 800
	to, err := l.Read(beyond, 1<<20, func(uint64, []byte) error { t.Error("got a frame"); return nil })
	if to != beyond || err != nil {
		t.Errorf("got %d, %v, want %d", to, err, beyond)
	}
}

func TestDroppedSegmentsAreGone(t *testing.T) {
	t.Parallel()
	dir, paths := older(t, three())
	s := reopen(t, dir)
	l := s.Logs()[0]
	all := slices.Concat(three()...)
	second := frameBytes(len(all[0])) + frameBytes(len(all[1]))

	for _, c := range []struct {
		upTo  uint64
		first int // segment that stays
	}{{0, 0}, {second - 8, 0}, {second, 1}, {second + 8, 1}, {l.End(), 2}, {l.End() + 8, 2}} {
		if err := l.Drop(c.upTo); err != nil {
			t.Fatal(err)
		}
		for i, path := range paths {
			if _, err := os.Stat(path); (err == nil) != (i >= c.first) {
				t.Errorf("dropped up to %d: segment %d: %v", c.upTo, i, err)
			}
		}
	}
	if got, want := payloads(t, l), all[4:]; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// From an offset that is gone, reading goes on with what there is.
	var first string
	_, err := l.Read(0, int(l.End()), func(_ uint64, p []byte) error { first = cmp.Or(first, string(p)); return nil })
	if first != "c1" || err != nil {
		t.Errorf("got %q, %v, want c1", first, err)
	}
	if err := l.Remove(); err != nil {
		t.Fatal(err)
	}
	if got := len(s.Logs()); got != 1 {
		t.Errorf("got %d logs, want the own", got)
	}
	if _, err := os.Stat(filepath.Dir(paths[0])); !os.IsNotExist(err) {
		t.Errorf("the log's folder is still there: %v", err)
	}
	if err := s.Logs()[0].Remove(); err == nil {
		t.Error("an open log could be removed")
	}
}

func TestOneProcessHasTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: dir}); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	reopen(t, dir)
}
