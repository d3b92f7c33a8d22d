package postgres_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// TestWritesThatArriveTogetherStandOrFallEachForItself mixes creations, changes
// and refusals of many callers, of whom the lane makes few transactions.
func TestWritesThatArriveTogetherStandOrFallEachForItself(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const n = 120
	for i := 5; i < n; i += 6 {
		mustWrite(t, s, create(link.Key{Code: "old" + strconv.Itoa(i)}, content("https://old.example/")))
	}
	call := callOf("n", "r")
	wish := func(i int) links.Mutation {
		key, target := link.Key{Code: "new" + strconv.Itoa(i)}, "https://a.example/"+strconv.Itoa(i)
		switch i % 6 {
		case 0:
			return create(key, content("https://"+strings.Repeat("a", 40_000)))
		case 1:
			return create(link.Key{Code: "wanted"}, content(target))
		case 2:
			m := random(content("https://reuse.example/"))
			m.Reuse = true
			return m
		case 3:
			return once(random(content(target)), &call)
		case 4:
			l := content(target)
			l.Tags = []string{`"quoted"`, `back\slash`, "{braced, too}", "ünï", "NULL"}
			return create(key, l)
		default:
			return update(link.Key{Code: "old" + strconv.Itoa(i)}, func(l *link.Link) { l.Target = target })
		}
	}
	results := together(t, s, n, wish)
	var wanted, reused, replayed int
	for i, r := range results {
		switch _, invalid := errors.AsType[*link.InvalidError](r.Err); i % 6 {
		case 0:
			if !invalid {
				t.Errorf("%d: %v, want it refused", i, r.Err)
			}
		case 1:
			if r.Err == nil {
				wanted++
			} else if !errors.Is(r.Err, link.ErrTaken) {
				t.Errorf("%d: %v, want it made or taken", i, r.Err)
			}
		case 2:
			if r.Reused {
				reused++
			}
			if r.Err != nil || r.Link.Key != results[2].Link.Key {
				t.Errorf("%d: %+v, want the link %s", i, r, results[2].Link.Key)
			}
		case 3:
			if r.Replayed {
				replayed++
			}
			if r.Err != nil || r.Link.Key != results[3].Link.Key {
				t.Errorf("%d: %+v, want the link %s", i, r, results[3].Link.Key)
			}
		default:
			got, err := s.Link(t.Context(), r.Link.Key)
			if r.Err != nil || err != nil || got.Target != "https://a.example/"+strconv.Itoa(i) ||
				i%6 == 4 && strings.Join(got.Tags, " ") != `"quoted" back\slash {braced, too} ünï NULL` {
				t.Errorf("%d: %v, and there is %+v, %v, want its own link", i, r.Err, got, err)
			}
		}
	}
	if want := n/6 - 1; wanted != 1 || reused != want || replayed != want {
		t.Errorf("alias made %d times, %d reused, %d replayed, want 1, %d, %d", wanted, reused, replayed, want, want)
	}
	checkPositions(t, s)
}

func TestAShardThatSomebodyHoldsKeepsNoWriteOfAnotherOne(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	openStore(t, url)
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, LockTimeout: time.Second})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(s.Close)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // of a test
	const held = 3
	if _, err := conn.Exec(t.Context(), `BEGIN; SELECT FROM shard_head WHERE shard = 3 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	key := func(i int) link.Key { return sameShard(keyOfShard(i%feed.Shards), 2)[i/feed.Shards] }
	results := together(t, s, 2*feed.Shards, func(i int) links.Mutation { return create(key(i), content("https://a.example/")) })
	for i, r := range results {
		if shard := i % feed.Shards; errors.Is(r.Err, link.ErrUnavailable) != (shard == held) || shard != held && r.Err != nil {
			t.Errorf("create on shard %d, of which %d is held: %v", shard, held, r.Err)
		}
	}
}

func TestWhatWasJudgedByAnOlderConfigIsNotWritten(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	under := func(code string, cfg *feed.Config) links.Mutation {
		m := create(link.Key{Code: code}, content("https://a.example/"))
		m.Under = links.Position{Epoch: cfg.Epoch, Shard: feed.ConfigShard, Seq: cfg.Seq}
		return m
	}
	if s.KnownConfig() != nil {
		t.Error("a config is known that nobody asked for")
	}
	older, err := s.Config(t.Context())
	if err != nil {
		t.Fatalf("Config: %v", err)
	}
	if known := s.KnownConfig(); known != older {
		t.Errorf("known is %+v, want what was asked for: %+v", known, older)
	}
	mustWrite(t, s, under("before", older))
	mustSetRow(t, s, "row", "{}")
	if known := s.KnownConfig(); known != older {
		t.Errorf("known is %+v, want what was asked for: %+v", known, older)
	}
	for name, m := range map[string]links.Mutation{"a position": under("after", older), "a link to reuse": func() links.Mutation {
		m := random(content("https://a.example/"))
		m.Reuse = true
		m.Under = under("", older).Under
		return m
	}()} {
		if res := write(t, s, m); !errors.Is(res.Err, links.ErrConfigMoved) || res.Change != nil {
			t.Errorf("%s: %+v, want ErrConfigMoved", name, res)
		}
	}
	newer, err := s.Config(t.Context())
	if err != nil {
		t.Fatalf("Config: %v", err)
	}
	mustWrite(t, s, under("after", newer))
	if _, err := s.BumpEpoch(t.Context()); err != nil {
		t.Fatalf("BumpEpoch: %v", err)
	}
	if res := write(t, s, under("later", newer)); !errors.Is(res.Err, links.ErrConfigMoved) {
		t.Errorf("a position of an older epoch: %+v, want ErrConfigMoved", res)
	}
	checkPositions(t, s)
}
