package links_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// keyring keeps keys in memory.
type keyring map[string]links.APIKey

func (k keyring) CreateKey(_ context.Context, key links.APIKey) error {
	k[key.ID] = key
	return nil
}

func (k keyring) Key(_ context.Context, id string) (links.APIKey, error) {
	key, ok := k[id]
	if !ok {
		return key, link.ErrNotFound
	}
	return key, nil
}

func (k keyring) Keys(_ context.Context, after string, limit int) (found []links.APIKey, err error) {
	for _, id := range slices.Sorted(maps.Keys(k)) { // in place of their age
		if key := k[id]; id > after && key.RevokedAt.IsZero() && len(found) < limit {
			found = append(found, key)
		}
	}
	return found, nil
}

func (k keyring) AnyKey(context.Context) (bool, error) { return len(k) > 0, nil }

func (k keyring) RevokeKey(_ context.Context, id string) error {
	key, ok := k[id]
	if !ok {
		return link.ErrNotFound
	}
	key.RevokedAt = time.Now()
	k[id] = key
	return nil
}

func (k keyring) ChangeKey(_ context.Context, id string, in *links.KeyInput) (links.APIKey, error) {
	key, ok := k[id]
	if !ok {
		return key, link.ErrNotFound
	}
	in.Apply(&key)
	k[id] = key
	return key, nil
}

func (k keyring) FirstKey(ctx context.Context, key links.APIKey) (bool, error) {
	if len(k) > 0 {
		return false, nil
	}
	return true, k.CreateKey(ctx, key)
}

func TestOnlyAKeysHolderPasses(t *testing.T) {
	t.Parallel()
	ring := keyring{}
	keys := links.NewKeys(ring, time.Now)
	key, text, err := keys.Make(t.Context(), &links.KeyInput{Owner: links.Value("ann"), Scopes: links.Value([]string{links.ScopeLinksRead})})
	if err != nil {
		t.Fatal(err)
	}
	got, err := keys.Check(t.Context(), text)
	if err != nil || got.ID != key.ID || got.Caller() != (links.Caller{Owner: "ann", Key: key.ID}) {
		t.Errorf("Check = %+v, %v", got, err)
	}
	if !got.Allows(links.ScopeLinksRead) || got.Allows(links.ScopeLinksWrite) || got.Allows(links.ScopeAdmin) {
		t.Errorf("scopes of %v are not what was asked for", got.Scopes)
	}
	other := links.NewKeyText()
	last := text[len(text)-1:]
	swapped := map[bool]string{true: "b", false: "a"}[last == "a"]
	for _, wrong := range []string{
		"", "wp_", text + "a", text[:len(text)-1], text[:len(text)-1] + swapped, strings.ToUpper(text), other,
		text[:len(text)-43] + other[len(other)-43:], strings.Replace(text, "wp_", "wq_", 1), text[:len(text)-1] + "\x00",
	} {
		if _, err := keys.Check(t.Context(), wrong); !errors.Is(err, links.ErrUnknownKey) {
			t.Errorf("Check(%q) = %v, want ErrUnknownKey", wrong, err)
		}
	}
	if err := keys.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Check(t.Context(), text); !errors.Is(err, links.ErrUnknownKey) {
		t.Errorf("Check of a revoked key = %v, want ErrUnknownKey", err)
	}
	if kept := fmt.Sprintf("%+v", ring[key.ID]); strings.Contains(kept, text[len(text)-43:]) {
		t.Errorf("the secret is kept: %s", kept)
	}
}

func TestAdminKeysMayDoEverythingAndAreNotConfined(t *testing.T) {
	t.Parallel()
	keys := links.NewKeys(keyring{}, time.Now)
	text := links.NewKeyText()
	if made, err := keys.First(t.Context(), text); err != nil || !made {
		t.Fatalf("First = %v, %v", made, err)
	}
	key, err := keys.Check(t.Context(), text)
	if err != nil || !key.Allows(links.ScopeStatsRead) || key.Caller() != (links.Caller{Admin: true, Key: key.ID}) {
		t.Errorf("Check = %+v, %v, want an admin key", key, err)
	}
	if made, err := keys.First(t.Context(), links.NewKeyText()); err != nil || made {
		t.Errorf("a second First = %v, %v, want none made", made, err)
	}
	var invalid *link.InvalidError
	if _, _, err := keys.Make(t.Context(), &links.KeyInput{
		Owner: links.Value("ann"), Scopes: links.Value([]string{links.ScopeAdmin}), Note: links.Value("a\x00"),
	}); !errors.As(err, &invalid) || len(invalid.Fields) != 2 {
		t.Errorf("Make = %v, want faults of owner and note", err)
	}
}

func TestAllowancesOfKeysAreBounded(t *testing.T) {
	t.Parallel()
	keys := links.NewKeys(keyring{}, time.Now)
	scopes := links.Value([]string{links.ScopeLinksWrite})
	key, _, err := keys.Make(t.Context(), &links.KeyInput{Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rate  float64
		burst int64
		want  []string // refused fields
	}{
		{links.MinCreateRate, 1, nil},
		{links.MaxCreateRate, links.MaxCreateBurst, nil},
		{0.5, 100, nil},
		{0, 0, []string{"create_rate", "create_burst"}},
		{-1, -1, []string{"create_rate", "create_burst"}},
		{links.MaxCreateRate + 1, links.MaxCreateBurst + 1, []string{"create_rate", "create_burst"}},
		{math.NaN(), 1, []string{"create_rate"}},
		{math.Inf(1), 1, []string{"create_rate"}},
		{0.0099, 1, []string{"create_rate"}},
		{1, math.MaxInt64, []string{"create_burst"}},
	} {
		in := &links.KeyInput{CreateRate: links.Value(c.rate), CreateBurst: links.Value(c.burst), Scopes: scopes}
		_, _, made := keys.Make(t.Context(), in)
		_, changed := keys.Change(t.Context(), key.ID, in)
		for _, err := range []error{made, changed} {
			var got []string
			if invalid, ok := errors.AsType[*link.InvalidError](err); ok {
				for _, f := range invalid.Fields {
					got = append(got, f.Field)
				}
			} else if err != nil {
				t.Errorf("rate %v, burst %d: %v", c.rate, c.burst, err)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("rate %v, burst %d: refused %v, want %v", c.rate, c.burst, got, c.want)
			}
		}
	}
}

func TestAKeyHasTheServicesAllowanceWhereItHasNone(t *testing.T) {
	t.Parallel()
	service := links.Allowance{Rate: 20, Burst: 100}
	for _, c := range []struct {
		key  links.APIKey
		want links.Allowance
	}{
		{links.APIKey{}, service},
		{links.APIKey{CreateRate: 0.5}, links.Allowance{Rate: 0.5, Burst: 100}},
		{links.APIKey{CreateBurst: 7}, links.Allowance{Rate: 20, Burst: 7}},
		{links.APIKey{CreateRate: 3, CreateBurst: 9}, links.Allowance{Rate: 3, Burst: 9}},
	} {
		if got := c.key.Creates(service); got != c.want {
			t.Errorf("Creates of %+v = %+v, want %+v", c.key, got, c.want)
		}
	}
}

func TestChangesOfKeysLeaveTheRestAsItIs(t *testing.T) {
	t.Parallel()
	key := links.APIKey{Note: "n", CreateRate: 2, CreateBurst: 3, Owner: "ann"}
	(&links.KeyInput{}).Apply(&key)
	if key.Note != "n" || key.CreateRate != 2 || key.CreateBurst != 3 {
		t.Errorf("an empty input made it %+v", key)
	}
	(&links.KeyInput{Note: links.Field[string]{Set: true}, CreateRate: links.Field[float64]{Set: true}, Owner: links.Value("bob")}).Apply(&key)
	if key.Note != "" || key.CreateRate != 0 || key.CreateBurst != 3 || key.Owner != "ann" {
		t.Errorf("null note and rate made it %+v", key)
	}
	keys := links.NewKeys(keyring{}, time.Now)
	for _, id := range []string{"", "x", "000000000000", strings.Repeat("-", 12)} {
		if _, err := keys.Change(t.Context(), id, &links.KeyInput{}); !errors.Is(err, link.ErrNotFound) {
			t.Errorf("Change(%q) = %v, want ErrNotFound", id, err)
		}
	}
}

func TestKeyTextsDoNotRepeat(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for range 1000 {
		text := links.NewKeyText()
		if len(text) != len("wp_")+12+1+43 || strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			t.Fatalf("key = %q", text)
		}
		if seen[text] {
			t.Fatalf("key %q was drawn twice", text)
		}
		seen[text] = true
	}
}

func TestKeysAreListedInPages(t *testing.T) {
	t.Parallel()
	keys := links.NewKeys(keyring{"a": {ID: "a"}, "b": {ID: "b"}, "c": {ID: "c"}, "d": {ID: "d", RevokedAt: time.Now()}}, time.Now)
	for limit, want := range map[int][]string{1: {"a", "b", "c"}, 2: {"a b", "c"}, 3: {"a b c"}, 100: {"a b c"}} {
		var pages []string
		for after, more := (links.Place{}), true; more && len(pages) < 5; more = after.Started {
			page, next, err := keys.List(t.Context(), after, limit)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, key := range page {
				ids = append(ids, key.ID)
			}
			pages, after = append(pages, strings.Join(ids, " ")), next
		}
		if !slices.Equal(pages, want) {
			t.Errorf("by %d: %q, want %q", limit, pages, want)
		}
	}
}
