package postgres

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"waypost/origin/internal/links"
)

// keepOnce is for how long at least the answers of calls that are carried out
// once are kept.
const keepOnce = 24 * time.Hour

// readOnce reads what became of items, where anything of their call was carried
// out. All rows of a call have the same request.
const readOnce = `SELECT k.place, c.request, o.reused, o.link, (SELECT n FROM epoch)
	FROM unnest($1::bytea[], $2::integer[]) WITH ORDINALITY k(call, item, place)
	CROSS JOIN LATERAL (SELECT request FROM once WHERE call = k.call LIMIT 1) c
	LEFT JOIN once o ON o.call = k.call AND o.item = k.item`

// Answered returns what became of each item that was carried out: its result is
// Replayed, or has links.ErrOtherRequest, or link.ErrUnavailable where another
// release can read it and this one cannot. Results of others are empty.
func (s *Store) Answered(ctx context.Context, asked []links.Once) ([]links.Result, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	results := make([]links.Result, len(asked))
	rows, err := s.pool.Query(ctx, readOnce, onceValues(asked)...)
	if err != nil {
		return nil, translate("once", err)
	}
	if err := scanOnce(rows, asked, results); err != nil {
		return nil, translate("once", err)
	}
	return results, nil
}

// onceValues are the values of readOnce.
func onceValues(asked []links.Once) []any {
	calls, items := make([][]byte, len(asked)), make([]int32, len(asked))
	for i := range asked {
		calls[i], items[i] = asked[i].Call[:], int32(asked[i].Item) //nolint:gosec // at most MaxWrite
	}
	return []any{calls, items}
}

// scanOnce puts each row into its place among the results.
func scanOnce(rows pgx.Rows, asked []links.Once, results []links.Result) error {
	var place int
	var request, made []byte
	var reused pgtype.Bool
	var epoch int64
	_, err := pgx.ForEachRow(rows, []any{&place, &request, &reused, &made, &epoch}, func() error {
		r := &results[place-1]
		switch {
		case string(request) != string(asked[place-1].Request[:]):
			r.Err = links.ErrOtherRequest
		case reused.Valid:
			r.Replayed, r.Reused, r.Epoch = true, reused.Bool, unsigned(epoch)
			r.Link, r.Err = decodeAnswer(made)
		}
		return nil
	})
	return err
}

// onceLock is the advisory lock under which a call is looked for and carried out.
func onceLock(o *links.Once) int64 { return signed(binary.BigEndian.Uint64(o.Call[:])) }

// queueOnce queues the look for calls that some of the jobs belong to, under
// their locks.
func (t *transaction) queueOnce(b *pgx.Batch) {
	var jobs []*job
	var asked []links.Once
	for _, j := range t.jobs {
		if j.m.Once != nil {
			jobs, asked = append(jobs, j), append(asked, *j.m.Once)
		}
	}
	if len(jobs) == 0 {
		return
	}
	b.Queue(readOnce, onceValues(asked)...).Query(func(rows pgx.Rows) error {
		results := make([]links.Result, len(jobs))
		if err := scanOnce(rows, asked, results); err != nil {
			return err
		}
		for i, r := range results {
			if r.Replayed || r.Err != nil {
				t.answered[jobs[i]] = r
			}
		}
		return nil
	})
}

// queueAnswers queues the rows by which what was carried out is answered again.
func (t *transaction) queueAnswers(b *pgx.Batch) error {
	var calls, requests [][]byte
	var items []int32
	var reused []bool
	var made []string
	for _, j := range t.jobs {
		r, settled := t.outcome[j]
		if j.m.Once == nil || !settled || r.Err != nil || r.Replayed {
			continue
		}
		answer, err := encodeAnswer(&r.Link)
		if err != nil {
			return err
		}
		calls, requests = append(calls, j.m.Once.Call[:]), append(requests, j.m.Once.Request[:])
		items = append(items, int32(j.m.Once.Item)) //nolint:gosec // at most MaxWrite
		reused, made = append(reused, r.Reused), append(made, answer)
	}
	if len(calls) > 0 {
		b.Queue(`INSERT INTO once (call, item, request, at, reused, link)
			SELECT c, i, r, $4, u, l FROM unnest($1::bytea[], $2::integer[], $3::bytea[], $5::boolean[], $6::json[]) o(c, i, r, u, l)`,
			calls, items, requests, t.now, reused, made)
	}
	return nil
}
