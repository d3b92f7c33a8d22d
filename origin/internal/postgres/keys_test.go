package postgres_test

import (
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

func TestOneOfManyFirstKeysIsMade(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var made atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			ok, err := s.FirstKey(t.Context(), links.APIKey{ID: string(rune('a' + i)), Scopes: []string{links.ScopeAdmin}})
			if err != nil {
				t.Errorf("FirstKey: %v", err)
			}
			if ok {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	keys, err := s.Keys(t.Context(), "", 10)
	if err != nil || made.Load() != 1 || len(keys) != 1 {
		t.Fatalf("%d first keys, %+v, %v, want one", made.Load(), keys, err)
	}
	// A revoked key is no reason to make another first one.
	if err := s.CreateKey(t.Context(), links.APIKey{ID: "y", Scopes: []string{links.ScopeAdmin}}); err != nil {
		t.Fatalf("CreateKey: %v", err)
	}
	if err := s.RevokeKey(t.Context(), keys[0].ID); err != nil {
		t.Fatalf("RevokeKey: %v", err)
	}
	if ok, err := s.FirstKey(t.Context(), links.APIKey{ID: "z"}); ok || err != nil {
		t.Errorf("FirstKey = %v, %v, want false", ok, err)
	}
}

func TestAKeyIsReadAsItWasMadeUntilRevoked(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	want := links.APIKey{
		ID: "abc", Hash: [32]byte{1, 2, 31: 3}, Owner: "ann", Scopes: []string{links.ScopeLinksRead, links.ScopeLinksWrite},
		Note: "for ann", CreateRate: 0.5, CreateBurst: 1000, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
	}
	if err := s.CreateKey(t.Context(), want); err != nil {
		t.Fatalf("CreateKey: %v", err)
	}
	if got, err := s.Key(t.Context(), "abc"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Key = %+v, %v, want %+v", got, err, want)
	}
	if err := s.CreateKey(t.Context(), want); !errors.Is(err, link.ErrTaken) {
		t.Errorf("CreateKey of an id that exists: %v, want ErrTaken", err)
	}
	if err := s.RevokeKey(t.Context(), "abc"); err != nil {
		t.Errorf("RevokeKey: %v", err)
	}
	if got, err := s.Key(t.Context(), "abc"); err != nil || got.RevokedAt.IsZero() {
		t.Errorf("revoked: Key = %+v, %v, want it revoked", got, err)
	}
	for _, id := range []string{"abc", "other"} {
		if err := s.RevokeKey(t.Context(), id); !errors.Is(err, link.ErrNotFound) {
			t.Errorf("RevokeKey(%s): %v, want ErrNotFound", id, err)
		}
	}
	if _, err := s.Key(t.Context(), "other"); !errors.Is(err, link.ErrNotFound) {
		t.Errorf("Key of none: %v, want ErrNotFound", err)
	}
}

func TestOneAdminKeyOutlivesAllRevocations(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ids := []string{"a", "b", "c", "d"}
	for _, id := range ids {
		if err := s.CreateKey(t.Context(), links.APIKey{ID: id, Scopes: []string{links.ScopeAdmin}}); err != nil {
			t.Fatalf("CreateKey: %v", err)
		}
	}
	// Neither a revoked admin key nor one that is none counts as another one.
	if err := s.CreateKey(t.Context(), links.APIKey{ID: "reader", Scopes: []string{links.ScopeLinksRead}}); err != nil {
		t.Fatalf("CreateKey: %v", err)
	}
	var refused atomic.Int32
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			err := s.RevokeKey(t.Context(), id)
			switch {
			case errors.Is(err, links.ErrLastAdmin):
				refused.Add(1)
			case err != nil:
				t.Errorf("RevokeKey(%s): %v", id, err)
			}
		})
	}
	wg.Wait()
	keys, err := s.Keys(t.Context(), "", 10)
	if err != nil {
		t.Fatalf("Keys: %v", err)
	}
	valid := 0
	for _, k := range keys {
		if k.Admin() && k.RevokedAt.IsZero() {
			valid++
		}
	}
	if refused.Load() != 1 || valid != 1 {
		t.Errorf("%d refused, %d admin keys left, want 1 and 1", refused.Load(), valid)
	}
	if err := s.RevokeKey(t.Context(), "reader"); err != nil {
		t.Errorf("RevokeKey of a key that is no admin's: %v", err)
	}
}

func TestAKeyIsChangedInWhatIsGiven(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	want := links.APIKey{ID: "abc", Scopes: []string{links.ScopeLinksWrite}, Note: "old", CreateRate: 2, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if err := s.CreateKey(t.Context(), want); err != nil {
		t.Fatalf("CreateKey: %v", err)
	}
	for _, in := range []links.KeyInput{
		{},
		{Note: links.Value("new")},
		{CreateRate: links.Value(0.25), CreateBurst: links.Value(int64(7))},
		{Note: links.Field[string]{Set: true}, CreateRate: links.Field[float64]{Set: true}},
		{Owner: links.Value("bob"), Scopes: links.Value([]string{links.ScopeAdmin})},
	} {
		in.Apply(&want)
		got, err := s.ChangeKey(t.Context(), "abc", &in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ChangeKey(%+v) = %+v, %v, want %+v", in, got, err, want)
		}
		if read, err := s.Key(t.Context(), "abc"); err != nil || !reflect.DeepEqual(read, want) {
			t.Errorf("Key = %+v, %v, want %+v", read, err, want)
		}
	}
	if err := s.RevokeKey(t.Context(), "abc"); err != nil {
		t.Fatalf("RevokeKey: %v", err)
	}
	for _, id := range []string{"abc", "other"} {
		if _, err := s.ChangeKey(t.Context(), id, &links.KeyInput{Note: links.Value("x")}); !errors.Is(err, link.ErrNotFound) {
			t.Errorf("ChangeKey(%s) = %v, want ErrNotFound", id, err)
		}
	}
}

func TestKeysAreReadInPagesByAge(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for id, made := range map[string]time.Time{"e": at.Add(-time.Microsecond), "d": at, "c": at, "b": at, "a": at.Add(time.Microsecond)} {
		key := links.APIKey{ID: id, Scopes: []string{links.ScopeLinksRead}, CreatedAt: made}
		if err := s.CreateKey(t.Context(), key); err != nil {
			t.Fatalf("CreateKey: %v", err)
		}
	}
	if err := s.RevokeKey(t.Context(), "c"); err != nil {
		t.Fatalf("RevokeKey: %v", err)
	}
	for _, c := range []struct {
		after string
		limit int
		want  string
	}{{"", 10, "ebda"}, {"", 2, "eb"}, {"b", 2, "da"}, {"c", 1, "d"}, {"a", 10, ""}, {"none", 10, ""}} {
		keys, err := s.Keys(t.Context(), c.after, c.limit)
		got := ""
		for _, k := range keys {
			got += k.ID
		}
		if err != nil || got != c.want {
			t.Errorf("%d after %q: %s, %v, want %s", c.limit, c.after, got, err, c.want)
		}
	}
}
