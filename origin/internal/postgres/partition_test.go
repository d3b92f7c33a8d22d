package postgres_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// today tells when the day began, UTC: server and test are one machine.
func today() time.Time { return time.Now().UTC().Truncate(24 * time.Hour) }

func partition(days int) string {
	return "outbox_" + today().AddDate(0, 0, days).Format("20060102")
}

// addPartition makes the one of a day that is days from today.
func addPartition(t *testing.T, url string, days int) {
	t.Helper()
	from := today().AddDate(0, 0, days)
	exec(t, url, `CREATE TABLE `+partition(days)+` PARTITION OF outbox (PRIMARY KEY (shard, seq)) FOR VALUES FROM ('`+
		from.Format(time.RFC3339)+`') TO ('`+from.AddDate(0, 0, 1).Format(time.RFC3339)+`')`)
}

// move makes a shard's changes up to a position as old as days from today.
func move(t *testing.T, url string, shard int, upTo uint64, days int) {
	t.Helper()
	exec(t, url, `UPDATE outbox SET at = $3 WHERE shard = $1 AND seq <= $2`, shard, upTo, today().AddDate(0, 0, days).Add(time.Hour))
}

// partitions reads the names of the outbox's partitions, in order.
func partitions(t *testing.T, url string) []string {
	t.Helper()
	rows, err := connect(t, url).Query(t.Context(),
		`SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'outbox'::regclass ORDER BY 1`)
	if err != nil {
		t.Fatalf("partitions: %v", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("partitions: %v", err)
	}
	return names
}

func count(t *testing.T, url, sql string, args ...any) (n int) {
	t.Helper()
	if err := connect(t, url).QueryRow(t.Context(), `SELECT count(*) FROM `+sql, args...).Scan(&n); err != nil {
		t.Fatalf("count %s: %v", sql, err)
	}
	return n
}

// fill gives the shard of key n positions.
func fill(t *testing.T, s *postgres.Store, key link.Key, n int) (shard int) {
	t.Helper()
	ms := make([]links.Mutation, 0, n)
	for _, k := range sameShard(key, n) {
		ms = append(ms, create(k, content("https://a.example/")))
	}
	results, err := s.Write(t.Context(), ms)
	if err != nil || results[n-1].Link.Version != uint64(n) {
		t.Fatalf("Write: %+v, %v, want version %d", results[n-1], err, n)
	}
	return feed.Shard(key.Hash())
}

// checkChanges checks what is answered from a position on; rows of -1 is a
// reset.
func checkChanges(t *testing.T, s *postgres.Store, shard int, from uint64, rows int) {
	t.Helper()
	c, err := s.Changes(t.Context(), shard, 1, from)
	if err != nil {
		t.Fatalf("Changes: %v", err)
	}
	if c.Reset != (rows < 0) || len(c.Rows) != max(rows, 0) {
		t.Errorf("changes from %d: reset %v, %d rows; want %d (-1: a reset)", from, c.Reset, len(c.Rows), rows)
	}
	for i, row := range c.Rows {
		if row.Seq != from+uint64(i)+1 {
			t.Errorf("changes from %d: row %d is at %d", from, i, row.Seq)
		}
	}
}

func prune(t *testing.T, s *postgres.Store) {
	t.Helper()
	if err := s.Prune(t.Context()); err != nil {
		t.Fatalf("Prune: %v", err)
	}
}

func TestChangesGoOnAcrossPartitions(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	shard := fill(t, s, link.Key{Code: "k"}, 30)
	addPartition(t, url, -1)
	move(t, url, shard, 20, -1)
	move(t, url, shard, 10, -2) // which has none, so the default takes it
	for _, table := range []string{"outbox_default", partition(-1), partition(0)} {
		if n := count(t, url, table); n != 10 {
			t.Errorf("%s has %d changes, want 10", table, n)
		}
	}
	for _, from := range []uint64{0, 9, 10, 15, 19, 20, 29, 30} {
		checkChanges(t, s, shard, from, 30-int(from))
	}
}

func TestChangesThatAreNotKeptAreAReset(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	shard := fill(t, s, link.Key{Code: "k"}, 30)
	addPartition(t, url, -8)
	addPartition(t, url, -7)
	move(t, url, shard, 20, -7)
	move(t, url, shard, 10, -8)
	move(t, url, shard, 5, -30)
	prune(t, s)
	if names := partitions(t, url); slices.Contains(names, partition(-8)) || !slices.Contains(names, partition(-7)) {
		t.Errorf("partitions %q, want %s gone and %s kept", names, partition(-8), partition(-7))
	}
	if n := count(t, url, "outbox"); n != 20 {
		t.Errorf("%d changes are kept, want 20", n)
	}
	for _, from := range []uint64{0, 5, 9} {
		checkChanges(t, s, shard, from, -1)
	}
	for _, from := range []uint64{10, 20, 30} {
		checkChanges(t, s, shard, from, 30-int(from))
	}
	// Not even a hole in the middle is passed over, as a clock that went back would leave.
	exec(t, url, `DELETE FROM outbox WHERE shard = $1 AND seq = 15`, shard)
	for from, rows := range map[uint64]int{10: -1, 14: -1, 15: 15} {
		checkChanges(t, s, shard, from, rows)
	}
	exec(t, url, `DELETE FROM outbox`)
	checkChanges(t, s, shard, 29, -1)
	checkChanges(t, s, shard, 30, 0)
}

func TestPartitionsAreMadeForTheComingDays(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	want := []string{partition(0), partition(1), partition(2), partition(3), "outbox_default"}
	if got := partitions(t, url); !slices.Equal(got, want) {
		t.Errorf("partitions after Migrate %q, want %q", got, want)
	}
	exec(t, url, `DROP TABLE `+partition(0)+`, `+partition(3))
	prune(t, s)
	if got := partitions(t, url); !slices.Equal(got, want) {
		t.Errorf("partitions after Prune %q, want %q", got, want)
	}
}

func TestAWriteNeedsNoPartitionOfItsDay(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	exec(t, url, `DROP TABLE `+partition(0)+`, `+partition(1)+`, `+partition(2))
	shard := fill(t, s, link.Key{Code: "k"}, 10)
	// A day that is in the default partition stays there; the others are made.
	prune(t, s)
	want := []string{partition(1), partition(2), partition(3), "outbox_default"}
	if got := partitions(t, url); !slices.Equal(got, want) {
		t.Errorf("partitions %q, want %q", got, want)
	}
	checkChanges(t, s, shard, 0, 10)
}

func TestAPositionIsGivenOnlyOnce(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	shard := fill(t, s, link.Key{Code: "k"}, 1)
	_, err := connect(t, url).Exec(t.Context(), `INSERT INTO outbox SELECT * FROM outbox WHERE shard = $1`, shard)
	if err == nil {
		t.Error("a second change took a position of the first")
	}
}

func TestAPruneThatWouldHoldUpWritersIsPutOff(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	addPartition(t, url, -8)
	exec(t, url, `DROP TABLE `+partition(3))
	dump, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	if _, err := dump.Exec(t.Context(), `LOCK TABLE outbox IN ACCESS SHARE MODE`); err != nil {
		t.Fatalf("lock: %v", err)
	}
	before := partitions(t, url)
	// It gives up by itself, long before the limits of the store or this test.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.Prune(ctx); !errors.Is(err, link.ErrUnavailable) || ctx.Err() != nil {
		t.Errorf("Prune beside a dump: %v, want ErrUnavailable for want of a lock", err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Errorf("Migrate beside a dump: %v", err)
	}
	if got := partitions(t, url); !slices.Equal(got, before) {
		t.Errorf("partitions %q, want %q as before", got, before)
	}
	mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/")))
	if err := dump.Rollback(t.Context()); err != nil {
		t.Fatalf("rollback: %v", err)
	}
	prune(t, s)
	if got := partitions(t, url); slices.Contains(got, partition(-8)) || !slices.Contains(got, partition(3)) {
		t.Errorf("partitions %q, want %s gone and %s made", got, partition(-8), partition(3))
	}
}

func TestManyPruneBesideWriters(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	stores := []*postgres.Store{openStore(t, url), openStore(t, url), openStore(t, url)}
	for round := range 4 {
		exec(t, url, `DROP TABLE `+partition(1)+`, `+partition(2)+`, `+partition(3))
		addPartition(t, url, -8)
		addPartition(t, url, -9)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				<-start
				// One that has no turn in time leaves its work to the next call.
				if err := s.Prune(t.Context()); err != nil && !errors.Is(err, link.ErrUnavailable) {
					t.Errorf("Prune: %v", err)
				}
			})
			wg.Go(func() {
				<-start
				for n := range 5 {
					key := link.Key{Code: strconv.Itoa(round) + "x" + strconv.Itoa(i) + "x" + strconv.Itoa(n)}
					results, err := s.Write(t.Context(), []links.Mutation{create(key, content("https://a.example/"))})
					if err != nil || results[0].Err != nil {
						t.Errorf("Write: %+v, %v", results, err)
					}
				}
			})
		}
		close(start)
		wg.Wait()
		prune(t, stores[0])
		want := []string{partition(0), partition(1), partition(2), partition(3), "outbox_default"}
		if got := partitions(t, url); !slices.Equal(got, want) {
			t.Errorf("round %d: partitions %q, want %q", round, got, want)
		}
	}
	checkPositions(t, stores[0])
}

func TestRowsOfEdgesThatLeftLongAgoArePruned(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	for _, m := range []feed.Member{eu, euAgain, us} {
		join(t, s, m)
	}
	leave(t, s, eu, euAgain)
	exec(t, url, `UPDATE edge_member SET left_at = left_at - interval '25 hours' WHERE boot = '1'`)
	exec(t, url, `UPDATE edge_member SET left_at = left_at - interval '23 hours' WHERE boot = '2'`)
	exec(t, url, `UPDATE edge_member SET joined_at = joined_at - interval '1 year'`)
	prune(t, s)
	for _, tt := range []struct {
		m    feed.Member
		want int
	}{{eu, 0}, {euAgain, 1}, {us, 1}} {
		if got := count(t, url, `edge_member WHERE id = $1 AND boot = $2`, tt.m.ID, tt.m.Boot); got != tt.want {
			t.Errorf("%v has %d rows, want %d", tt.m, got, tt.want)
		}
	}
	join(t, s, eu)
	checkMembers(t, s, "joined after its row was gone", map[feed.Member]bool{eu: false, us: false})
}
