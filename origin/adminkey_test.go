package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
)

func migrated(t *testing.T, url string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

// overtaken is a store on which another origin starts between this one's file
// and its key.
type overtaken struct {
	*postgres.Store
	by func() error
}

func (o overtaken) FirstKey(ctx context.Context, key links.APIKey) (bool, error) {
	if err := o.by(); err != nil {
		return false, err
	}
	return o.Store.FirstKey(ctx, key)
}

func TestAKeyFileStaysIfItsKeyIsTheOneThatWasMade(t *testing.T) {
	t.Parallel()
	for name, shared := range map[string]bool{"same file": true, "file of its own": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := migrated(t, services.Postgres(t))
			keys := links.NewKeys(store, time.Now)
			path, other := filepath.Join(t.TempDir(), "admin.key"), filepath.Join(t.TempDir(), "admin.key")
			if shared {
				other = path
			}
			var stderr bytes.Buffer
			late := links.NewKeys(overtaken{store, func() error {
				return firstKey(t.Context(), keys, other, &stderr)
			}}, time.Now)
			if err := firstKey(t.Context(), late, path, &stderr); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(other)
			if err != nil {
				t.Fatalf("file of the origin that made the key: %v", err)
			}
			if key, err := keys.Check(t.Context(), strings.TrimSpace(string(b))); err != nil || !key.Admin() {
				t.Errorf("key in the file: %+v, %v, want the admin key", key, err)
			}
			if _, err := os.Stat(path); !shared && err == nil {
				t.Error("a file is left of the key that was not made")
			}
		})
	}
}

func TestManyStartsWithOneKeyFileMakeTheKeyThatIsInIt(t *testing.T) {
	t.Parallel()
	store := migrated(t, services.Postgres(t))
	keys := links.NewKeys(store, time.Now)
	path := filepath.Join(t.TempDir(), "admin.key")
	var begin, all sync.WaitGroup
	begin.Add(1)
	for range 32 {
		all.Go(func() {
			var stderr bytes.Buffer
			begin.Wait()
			if err := firstKey(t.Context(), keys, path, &stderr); err != nil {
				t.Errorf("firstKey: %v", err)
			}
		})
	}
	begin.Done()
	all.Wait()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if key, err := keys.Check(t.Context(), strings.TrimSpace(string(b))); err != nil || !key.Admin() {
		t.Errorf("key in the file: %+v, %v, want the admin key", key, err)
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
		t.Errorf("drafts are left: %q, %v", left, err)
	}
}
