package postgres

import (
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// queueDomains queues what holds the rows of the domains that jobs are about, so
// that none of them is removed before the commit. Of those that are there already
// it notes the names. The default domain has no need of a row.
func (t *transaction) queueDomains(b *pgx.Batch) {
	rows := make(map[string]bool)
	for _, j := range t.jobs {
		if j.key.Domain != "" && !j.purge {
			rows[feed.DomainRow(j.key.Domain)] = true
		}
	}
	t.registered = make(map[string]bool, len(rows))
	if len(rows) == 0 {
		return
	}
	b.Queue(`SELECT name FROM config_row WHERE name = ANY($1) ORDER BY name FOR KEY SHARE`,
		slices.Collect(maps.Keys(rows))).Query(func(found pgx.Rows) error {
		var name string
		_, err := pgx.ForEachRow(found, []any{&name}, func() error {
			t.registered[name] = true
			return nil
		})
		return err
	})
}

// homeless refuses a link that is to be there and was not, on a domain that is
// not registered any more. The rules have looked before, without a lock.
func (t *transaction) homeless(domain string, old, l *link.Link) error {
	before := old != nil && old.DeletedAt.IsZero()
	if before || !l.DeletedAt.IsZero() || domain == "" || t.registered[feed.DomainRow(domain)] {
		return nil
	}
	return &link.InvalidError{Fields: []link.FieldError{{Field: "domain", Reason: "is not a registered domain"}}}
}
