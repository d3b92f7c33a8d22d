package links_test

import (
	"context"
	"errors"
	"fmt"
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

func (k keyring) Keys(context.Context) ([]links.APIKey, error) {
	var all []links.APIKey
	for _, key := range k {
		all = append(all, key)
	}
	return all, nil
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
	key, text, err := keys.Make(t.Context(), "ann", []string{links.ScopeLinksRead}, "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := keys.Check(t.Context(), text)
	if err != nil || got.ID != key.ID || got.Caller() != (links.Caller{Owner: "ann"}) {
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
	if err != nil || !key.Allows(links.ScopeStatsRead) || key.Caller() != (links.Caller{Admin: true}) {
		t.Errorf("Check = %+v, %v, want an admin key", key, err)
	}
	if made, err := keys.First(t.Context(), links.NewKeyText()); err != nil || made {
		t.Errorf("a second First = %v, %v, want none made", made, err)
	}
	var invalid *link.InvalidError
	if _, _, err := keys.Make(t.Context(), "ann", []string{links.ScopeAdmin}, "a\x00"); !errors.As(err, &invalid) || len(invalid.Fields) != 2 {
		t.Errorf("Make = %v, want faults of owner and note", err)
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
