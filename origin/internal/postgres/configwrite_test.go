package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestRowsOfOneWriteStandEachForItself(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustSetRow(t, s, "block/api/kept.example", "1")
	refused := errors.New("refused")
	most := func(row, value string) links.ConfigMutation {
		m := setRow(row, value)
		m.Most = 3
		return m
	}
	results, err := s.WriteConfig(t.Context(), []links.ConfigMutation{
		most("block/api/a.example", "2"),
		{Row: "block/api/b.example", Merge: func(old *links.ConfigRow, _ time.Time) (string, error) {
			if old != nil {
				t.Errorf("old = %+v, want none", old)
			}
			return "", refused
		}},
		most("block/file/c.example", "3"),
		most("block/api/d.example", "4"), // one too many
		most("block/api/kept.example", "5"),
		setRow("block/api/none.example", ""),
		most("domain/a.example", "6"), // of another kind
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		seq uint64 // 0: no change
		err error
	}{{2, nil}, {0, refused}, {3, nil}, {0, links.ErrFull}, {4, nil}, {0, nil}, {5, nil}} {
		got := results[i]
		if !errors.Is(got.Err, want.err) || (got.Change == nil) != (want.seq == 0) || got.Change != nil && (got.Change.Seq != want.seq || got.Row.Version != want.seq) {
			t.Errorf("mutation %d: %+v, want %+v", i, got, want)
		}
	}
	rows, err := s.ConfigRows(t.Context(), "block/", "block/api/a.example", 2)
	if err != nil || len(rows) != 2 || rows[0].Name != "block/api/kept.example" || rows[0].Value != "5" || rows[1].Name != "block/file/c.example" {
		t.Errorf("rows %+v, %v, want two after the first", rows, err)
	}
}

// Edges read all rows in one answer, whose size they bound.
func TestTheRowsAreBoundedInBytesToo(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	value := strings.Repeat("x", 500_000)
	for i := range 7 {
		mustSetRow(t, s, fmt.Sprintf("big/%d", i), value)
	}
	try := func(row, value string) error {
		results, err := s.WriteConfig(t.Context(), []links.ConfigMutation{setRow(row, value)})
		if err != nil {
			t.Fatal(err)
		}
		return results[0].Err
	}
	if err := try("big/8", value); !errors.Is(err, links.ErrFull) {
		t.Errorf("one more row: %v, want ErrFull", err)
	}
	if err := try("big/0", value+value); !errors.Is(err, links.ErrFull) {
		t.Errorf("a longer row: %v, want ErrFull", err)
	}
	for _, value := range []string{value[1:], "", "new"} {
		if err := try("big/0", value); err != nil {
			t.Errorf("a shorter row, none, a short one: %v", err)
		}
	}
}

// A config is read whole once. What it is brought up to date with afterwards is
// the same, however it was read.
func TestAConfigThatIsKeptIsThatOfItsPosition(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s, other := openStore(t, url), openStore(t, url)
	for round := range 4 {
		for i := range 1 + round*(feed.MaxChanges/2) {
			mustSetRow(t, s, fmt.Sprintf("row/%d", i%7), fmt.Sprint(round, i))
		}
		mustSetRow(t, s, "row/0", "")
		kept, err := other.Config(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		again, err := other.Config(t.Context())
		if err != nil || again != kept {
			t.Errorf("round %d: read again, %v, though nothing has changed", round, err)
		}
		fresh, err := openStore(t, url).Config(t.Context())
		if err != nil || fresh.Seq != kept.Seq || fresh.Epoch != kept.Epoch || fmt.Sprint(rowsOf(t, fresh)) != fmt.Sprint(rowsOf(t, kept)) {
			t.Errorf("round %d: kept %v at %d, %v, want %v at %d", round, rowsOf(t, kept), kept.Seq, err, rowsOf(t, fresh), fresh.Seq)
		}
	}
}

func TestADomainGoesOnlyWithoutLinksAndTakesNoneAfterwards(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	key := link.Key{Domain: "go.example", Code: "a"}
	unregister := func() error {
		results, err := s.WriteConfig(t.Context(), []links.ConfigMutation{setRow(feed.DomainRow("go.example"), "")})
		if err != nil {
			t.Fatal(err)
		}
		return results[0].Err
	}
	mustWrite(t, s, create(key, content("https://a.example/")))
	if err := unregister(); !errors.Is(err, links.ErrInUse) {
		t.Errorf("with a link: %v, want ErrInUse", err)
	}
	mustWrite(t, s, remove(key))
	if err := unregister(); err != nil {
		t.Errorf("with a tombstone: %v", err)
	}
	var invalid *link.InvalidError
	for what, m := range map[string]links.Mutation{
		"a new link":            create(link.Key{Domain: "go.example", Code: "b"}, content("https://a.example/")),
		"a generated one":       generate("go.example", content("https://a.example/"), "c"),
		"one over a tombstone":  create(key, content("https://a.example/")),
		"one of another domain": create(link.Key{Domain: "never.example", Code: "b"}, content("https://a.example/")),
	} {
		if res := write(t, s, m); !errors.As(res.Err, &invalid) || invalid.Fields[0].Field != "domain" {
			t.Errorf("%s: %+v, want the domain refused", what, res)
		}
	}
	registered(t, s)
	if res := mustWrite(t, s, create(key, content("https://a.example/"))); res.Link.Version != 3 {
		t.Errorf("after the domain came back: version %d, want 3: the tombstone's goes on", res.Link.Version)
	}
}

// However links are made and deleted while a domain comes and goes, none lives on
// a domain that is not registered.
func TestNoLinkLivesOnADomainThatIsGone(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	const writers, rounds = 2, 150
	var made, refused, removed, kept atomic.Int64
	var all sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		all.Go(func() {
			key := link.Key{Domain: "go.example", Code: fmt.Sprint("w", w)}
			for range rounds {
				results, err := s.Write(t.Context(), []links.Mutation{create(key, content("https://a.example/"))})
				if err != nil {
					t.Error(err)
					return
				}
				var invalid *link.InvalidError
				switch {
				case errors.As(results[0].Err, &invalid):
					refused.Add(1)
					continue
				case results[0].Err != nil:
					t.Errorf("create: %v", results[0].Err)
					return
				}
				made.Add(1)
				// As long as it lives the domain stays.
				if rows, err := s.ConfigRows(t.Context(), feed.DomainRow("go.example"), "", 1); err != nil || len(rows) != 1 {
					t.Errorf("a link lives on a domain that is gone: %+v, %v", rows, err)
				}
				if results, err = s.Write(t.Context(), []links.Mutation{remove(key)}); err != nil || results[0].Err != nil {
					t.Errorf("delete: %+v, %v", results, err)
				}
			}
		})
	}
	var owner sync.WaitGroup
	owner.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			results, err := s.WriteConfig(t.Context(), []links.ConfigMutation{setRow(feed.DomainRow("go.example"), "")})
			switch {
			case err != nil:
				t.Error(err)
				return
			case errors.Is(results[0].Err, links.ErrInUse):
				kept.Add(1)
				continue
			}
			removed.Add(1)
			registered(t, s)
		}
	})
	all.Wait()
	close(done)
	owner.Wait()
	if made.Load() == 0 || removed.Load() == 0 || refused.Load() == 0 {
		t.Errorf("made %d, refused %d, removed %d, kept %d: want links made and domains removed", made.Load(), refused.Load(), removed.Load(), kept.Load())
	}
	t.Logf("made %d, refused %d, removed %d, kept %d", made.Load(), refused.Load(), removed.Load(), kept.Load())
}
