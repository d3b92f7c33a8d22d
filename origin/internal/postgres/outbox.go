package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/shared/feed"
)

// lockHeads takes the heads of shards in ascending order, which is what keeps
// writers from deadlock, and gives them as they are once the lock is held. It
// is a statement of its own: whatever is read in the same statement is read
// from before the wait for the lock.
const lockHeads = `SELECT shard, seq FROM shard_head WHERE shard = ANY($1) ORDER BY shard FOR UPDATE`

// readEpoch reads the epoch and PostgreSQL's clock.
const readEpoch = `SELECT n, clock_timestamp() FROM epoch`

// firstShards lists the first n shards, for lockHeads.
func firstShards(n int16) []int16 {
	all := make([]int16, n)
	for i := range n {
		all[i] = i
	}
	return all
}

// queueChanges queues what gives each change its position: the outbox rows, and
// the heads moved on by as many. The heads must be locked.
func queueChanges(b *pgx.Batch, changes []*feed.Change) {
	var (
		shards, kinds  []int16
		seqs           []int64
		times          []time.Time
		domains, codes []string
		values         [][]byte
		ahead          = make(map[int16]int64)
	)
	for _, c := range changes {
		shard := int16(c.Shard) //nolint:gosec // at most 64
		shards = append(shards, shard)
		kinds = append(kinds, int16(c.Kind))
		seqs = append(seqs, signed(c.Seq))
		times = append(times, time.UnixMicro(c.At))
		domains = append(domains, c.Key.Domain)
		codes = append(codes, c.Key.Code)
		values = append(values, []byte(c.Value))
		ahead[shard]++
	}
	b.Queue(`INSERT INTO outbox (shard, seq, kind, at, domain, code, value)
		SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::smallint[], $4::timestamptz[],
			$5::text[], $6::text[], $7::bytea[])`, shards, seqs, kinds, times, domains, codes, values)
	moved, by := make([]int16, 0, len(ahead)), make([]int64, 0, len(ahead))
	for shard, n := range ahead {
		moved, by = append(moved, shard), append(by, n)
	}
	b.Queue(`UPDATE shard_head h SET seq = h.seq + m.n
		FROM unnest($1::smallint[], $2::bigint[]) m(shard, n) WHERE h.shard = m.shard`, moved, by)
}
