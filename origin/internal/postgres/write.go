package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

const (
	// MaxWrite is the most mutations of one Write.
	MaxWrite = 1000

	// groupShards is the most shards of one transaction. All 64 at once would make
	// a bulk write one queue with every other writer; one at a time would pay a
	// commit for each.
	groupShards = 8

	// maxCodes is how many generated codes a mutation may find taken. Random ones
	// collide once in thousands; those of the counter come in order, and somebody
	// may have claimed the next hundreds as aliases.
	maxCodes = 1000

	// maxAttempts is how often a group is started anew because a row came past the
	// locks. Nothing of this program writes such rows.
	maxAttempts = 3
)

// job is one mutation on its way through Write, or one key through Purge.
type job struct {
	m     *links.Mutation
	res   *links.Result
	key   link.Key // chosen anew before each attempt where codes are generated
	shard int
	tried int       // generated codes used so far
	reuse *criteria // nil: always make a new link
	purge bool      // there is no mutation: the key gets a position and its row stays
	done  bool      // the result stands
}

// Write carries out mutations, each for itself: what became of one stands in
// its result, at the same index. Each one that succeeds is a position of its
// key's shard, with a row in the outbox, even if it changes no field.
//
// They are committed in groups of up to eight shards, a single one together with
// those of other calls that wait for their turn meanwhile. Mutations of one key are
// done in order, as are those that would reuse the same link; a later one sees
// what an earlier one did. When PostgreSQL becomes unavailable on the way, what
// was committed stands and the rest has link.ErrUnavailable. That error leaves
// open whether its group was committed, if the connection broke at that moment.
//
// The error is for a call that is wrong as a whole.
func (s *Store) Write(ctx context.Context, ms []links.Mutation) ([]links.Result, error) {
	if len(ms) > MaxWrite {
		return nil, fmt.Errorf("postgres write: %d mutations, at most %d", len(ms), MaxWrite)
	}
	results := make([]links.Result, len(ms))
	pending := make([]*job, len(ms))
	for i := range ms {
		pending[i] = &job{m: &ms[i], res: &results[i], key: ms[i].Key}
	}
	s.carryOut(ctx, s.resolveReuse(ctx, pending))
	return results, nil
}

// carryOut settles all jobs.
func (s *Store) carryOut(ctx context.Context, pending []*job) {
	for len(pending) > 0 {
		round, later := firstOfEach(s.chooseCodes(ctx, pending))
		todo := groups(round)
		for i, group := range todo {
			collided, err := s.writeTurn(ctx, group)
			if err != nil {
				fail(slices.Concat(todo[i:]...), err)
				fail(later, err)
				return
			}
			later = append(later, collided...)
		}
		pending = later
	}
}

// chooseCodes gives each job its key and shard, before any lock is taken: the
// shard depends on the code.
func (s *Store) chooseCodes(ctx context.Context, jobs []*job) []*job {
	return slices.DeleteFunc(jobs, func(j *job) bool {
		if j.m.Generate != nil && j.key.Code == "" {
			code, err := s.nextCode(ctx, j)
			if err != nil {
				j.settle(links.Result{Err: err})
				return true
			}
			j.key.Code = code
		}
		j.shard = feed.Shard(j.key.Hash())
		return false
	})
}

// nextCode generates a code for a job. The first one is taken as it comes, since
// most are free; after it those that have a row are passed over here, which
// costs a look each, where a transaction would hold a shard's head for it.
func (s *Store) nextCode(ctx context.Context, j *job) (string, error) {
	for j.tried < maxCodes {
		code, err := j.m.Generate(ctx)
		if err != nil {
			return "", fmt.Errorf("generate code: %w", err)
		}
		j.tried++
		if j.tried == 1 {
			return code, nil
		}
		taken, err := s.taken(ctx, link.Key{Domain: j.key.Domain, Code: code})
		if err != nil || !taken {
			return code, err
		}
	}
	return "", fmt.Errorf("postgres write: %d codes: %w", maxCodes, links.ErrNoCode)
}

// taken reports whether there is a row of the key, a tombstone too.
func (s *Store) taken(ctx context.Context, key link.Key) (taken bool, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err = s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM links WHERE domain = $1 AND code = $2)`,
		key.Domain, key.Code).Scan(&taken)
	return taken, translate("code "+key.String(), err)
}

// firstOfEach splits off the jobs that an earlier job is about the same as. Each
// transaction then meets a key once.
func firstOfEach(jobs []*job) (round, later []*job) {
	var met apart
	for _, j := range jobs {
		if met.add(j) {
			round = append(round, j)
		} else {
			later = append(later, j)
		}
	}
	return round, later
}

// groups splits jobs, in ascending order of shards, into one group a
// transaction.
func groups(jobs []*job) [][]*job {
	slices.SortStableFunc(jobs, func(a, b *job) int { return a.shard - b.shard })
	var out [][]*job
	shards := 0
	for i, j := range jobs {
		next := i == 0 || j.shard != jobs[i-1].shard
		if next {
			shards++
		}
		if i == 0 || next && shards > groupShards {
			out, shards = append(out, nil), 1
		}
		out[len(out)-1] = append(out[len(out)-1], j)
	}
	return out
}

// writeTurn is writeGroup; one job goes by the lane, with those of other writes.
func (s *Store) writeTurn(ctx context.Context, group []*job) (collided []*job, err error) {
	if len(group) > 1 {
		return s.writeGroup(ctx, group)
	}
	v := s.lane.write(ctx, group[0], s.writeTogether)
	switch {
	case v.alone:
		return s.writeGroup(ctx, group)
	case v.collided:
		return group, nil
	}
	return nil, v.err
}

// writeTogether is writeGroup for jobs of different callers.
func (s *Store) writeTogether(ctx context.Context, group []*job) (collided []*job, err error) {
	if len(group) > 1 {
		return s.attempt(ctx, group, s.briefWait)
	}
	return s.attempt(ctx, group, 0)
}

// writeGroup settles the jobs of a group, but for those it returns: their
// generated code was taken and they need another one. After an error,
// link.ErrUnavailable, some may be settled and others not.
func (s *Store) writeGroup(ctx context.Context, group []*job) (collided []*job, err error) {
	return s.attempt(ctx, group, 0)
}

// attempt is writeGroup with a longest wait for a lock; 0: as long as a write may.
func (s *Store) attempt(ctx context.Context, group []*job, locks time.Duration) (collided []*job, err error) {
	for range maxAttempts {
		t := &transaction{jobs: group, locks: locks}
		if err = s.run(ctx, t); err == nil {
			return t.settle(), nil
		}
		if !errors.Is(err, errRaced) {
			break
		}
	}
	if errors.Is(err, link.ErrUnavailable) {
		return nil, err
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && refused(e) && len(group) > 1 {
		// PostgreSQL does not say which row it refused: alone, only that one fails.
		for i := range group {
			again, err := s.writeGroup(ctx, group[i:i+1])
			if err != nil {
				return nil, err
			}
			collided = append(collided, again...)
		}
		return collided, nil
	}
	fail(group, err)
	return nil, nil
}

func fail(jobs []*job, err error) {
	for _, j := range jobs {
		if !j.done {
			j.settle(links.Result{Err: err})
		}
	}
}

func (j *job) settle(res links.Result) { *j.res, j.done = res, true }

// clock reads PostgreSQL's clock.
func (s *Store) clock(ctx context.Context) (now time.Time, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err = s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now)
	return now.UTC(), translate("clock", err)
}
