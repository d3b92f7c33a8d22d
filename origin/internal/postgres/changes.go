package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// maxChangesBytes bounds the values of one answer of Changes; a single larger
// one still goes out.
const maxChangesBytes = 1 << 20

// readChanges takes shard, position, most rows and most bytes. The partitions'
// indexes are merged in the order of positions, so that no more rows are read
// than the answer holds.
const readChanges = `
	SELECT e.n, h.seq, o.seq, o.kind, o.at, o.domain, o.code, o.value
	FROM epoch e CROSS JOIN shard_head h LEFT JOIN LATERAL (
		SELECT *, sum(octet_length(value)) OVER (ORDER BY seq) - octet_length(value) AS before
		FROM (SELECT * FROM outbox WHERE shard = $1 AND seq > $2 ORDER BY seq LIMIT $3) page
	) o ON o.before < $4
	WHERE h.shard = $1 ORDER BY o.seq`

// Changes reads the changes of a shard that came after position from, as many
// as one answer holds. It asks for a reset if they are of another epoch, not
// kept any more, or if from lies beyond the head.
func (s *Store) Changes(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	after := signed(min(from, math.MaxInt64))
	rows, err := s.edges.Query(ctx, readChanges, shard, after, feed.MaxChanges, maxChangesBytes)
	if err != nil {
		return nil, translate("changes", err)
	}
	c := &feed.Changes{Shard: shard}
	var (
		now, head         int64
		seq               pgtype.Int8
		kind              pgtype.Int2
		at                pgtype.Timestamptz
		domain, code      pgtype.Text
		value             []byte
		found, contiguous = 0, true
	)
	_, err = pgx.ForEachRow(rows, []any{&now, &head, &seq, &kind, &at, &domain, &code, &value}, func() error {
		if !seq.Valid {
			return nil
		}
		found++
		contiguous = contiguous && unsigned(seq.Int64) == from+uint64(len(c.Rows))+1
		c.Rows = append(c.Rows, &feed.Change{
			Epoch: unsigned(now), Shard: shard, Seq: unsigned(seq.Int64), Kind: feed.Kind(kind.Int16), //nolint:gosec // 1 to 4
			At: at.Time.UnixMicro(), Key: link.Key{Domain: domain.String, Code: code.String}, Value: string(value),
		})
		return nil
	})
	if err != nil {
		return nil, translate("changes", err)
	}
	c.Epoch, c.Head = unsigned(now), unsigned(head)
	missing := from < c.Head && found == 0
	if c.Epoch != epoch || from > c.Head || missing || !contiguous {
		c.Reset, c.Rows = true, nil
	}
	return c, nil
}
