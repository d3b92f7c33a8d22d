package postgres

import (
	"context"

	"waypost/shared/feed"
)

// Join makes a run of an edge a member, once more if it had left. It is
// committed on return: from then on every Roster has it. A name that cannot be
// stored is a *link.InvalidError.
func (s *Store) Join(ctx context.Context, m feed.Member) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	_, err := s.edges.Exec(ctx, `
		INSERT INTO edge_member (id, boot) VALUES ($1, $2)
		ON CONFLICT (id, boot) DO UPDATE SET joined_at = clock_timestamp(), left_at = NULL
		WHERE edge_member.left_at IS NOT NULL`, m.ID, m.Boot)
	return translate("join "+m.ID, err)
}

// beginLeaving marks members as leaving. Rows are locked in one order, as all
// statements do that take several, so that none deadlock.
const beginLeaving = `
	UPDATE edge_member e SET left_at = 'infinity'
	FROM (
		SELECT id, boot FROM edge_member r JOIN unnest($1::text[], $2::text[]) m(id, boot) USING (id, boot)
		WHERE r.left_at IS NULL ORDER BY id, boot FOR UPDATE OF r
	) gone WHERE e.id = gone.id AND e.boot = gone.boot`

const endLeaving = `
	UPDATE edge_member e SET left_at = clock_timestamp()
	FROM (
		SELECT id, boot FROM edge_member WHERE left_at = 'infinity' ORDER BY id, boot FOR UPDATE
	) gone WHERE e.id = gone.id AND e.boot = gone.boot`

// Leave takes runs of edges off the members; those that have left keep the time
// they left at, and those that never joined are passed over.
//
// It takes two commits. A commit can take longer than a lease lasts, and until
// it is seen the edge is given heads: a time from before that moment would have
// it forgotten too early. So the time is read when the first commit is done. An
// edge that is left between the two, because this process died, still counts
// as a member, until the next Leave of any edge, or Prune, ends that.
func (s *Store) Leave(ctx context.Context, ms []feed.Member) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	ids, boots := make([]string, len(ms)), make([]string, len(ms))
	for i, m := range ms {
		ids[i], boots[i] = m.ID, m.Boot
	}
	if _, err := s.edges.Exec(ctx, beginLeaving, ids, boots); err != nil {
		return translate("leave", err)
	}
	_, err := s.edges.Exec(ctx, endLeaving)
	return translate("leave", err)
}
