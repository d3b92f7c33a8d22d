package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// criteria is what a link must be to be reused: all that decides where it sends
// whom, and who it belongs to. Title and tags are not part of it. Links with an
// expiry or a start, disabled ones, and links whose alias was asked for, are
// never reused, nor is one found for a link that is to be so itself.
type criteria struct {
	domain, owner, target, expiredURL string
	status                            int
	query                             link.Query
	suffix                            link.Suffix
	class                             link.Class
	clicks                            bool
	maxClicks                         int64
}

// resolveReuse finds out what the jobs that ask for reuse are looking for, by
// making their content once. Jobs that fail at that are settled and left out.
func (s *Store) resolveReuse(ctx context.Context, jobs []*job) []*job {
	if !slices.ContainsFunc(jobs, func(j *job) bool { return j.m.Reuse }) {
		return jobs
	}
	now, clockErr := s.clock(ctx)
	return slices.DeleteFunc(jobs, func(j *job) bool {
		if !j.m.Reuse {
			return false
		}
		if clockErr != nil {
			j.settle(links.Result{Err: clockErr})
			return true
		}
		l, err := j.m.Merge(nil, now)
		if err != nil {
			j.settle(links.Result{Err: err})
			return true
		}
		if l.Enabled && l.StartsAt.IsZero() && l.ExpiresAt.IsZero() {
			j.reuse = &criteria{
				domain: j.key.Domain, owner: l.Owner, target: l.Target, expiredURL: l.ExpiredURL, status: l.Status,
				query: l.Query, suffix: l.Suffix, class: l.Class, clicks: l.Clicks, maxClicks: l.MaxClicks,
			}
		}
		return false
	})
}

// lock is the advisory lock under which such a link is looked for and made. It
// is coarser than the criteria, which costs a wait at most.
func (c *criteria) lock() int64 {
	return targetHash(strings.Join([]string{"reuse", c.domain, c.owner, c.target}, "\x00"))
}

// queueLocks queues the locks of a transaction's criteria, and of what it is to
// do once, in ascending order.
func queueLocks(b *pgx.Batch, jobs []*job) {
	var locks []int64
	for _, j := range jobs {
		if j.reuse != nil {
			locks = append(locks, j.reuse.lock())
		}
		if j.m.Once != nil {
			locks = append(locks, onceLock(j.m.Once))
		}
	}
	slices.Sort(locks)
	if len(locks) > 0 {
		b.Queue(`SELECT pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) k`, slices.Compact(locks))
	}
}

// queueLookup queues the search for a link to reuse; r stays empty if there is
// none.
func (c *criteria) queueLookup(b *pgx.Batch, r *linkRow) {
	b.Queue(`SELECT `+linkColumns+` FROM links l
		WHERE generated AND deleted_at IS NULL AND starts_at IS NULL AND expires_at IS NULL AND enabled
			AND target_hash = $1 AND target = $2 AND domain = $3 AND owner = $4 AND expired_url = $5 AND status = $6
			AND query = $7 AND suffix = $8 AND class = $9 AND clicks = $10 AND max_clicks = $11
		ORDER BY link_id LIMIT 1`,
		targetHash(c.target), c.target, c.domain, c.owner, c.expiredURL, c.status,
		c.query.String(), c.suffix.String(), c.class.String(), c.clicks, c.maxClicks,
	).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := rows.Scan(r.dest()...); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

func targetHash(target string) int64 { return signed(link.HashBytes([]byte(target))) }
