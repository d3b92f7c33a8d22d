package contract

import (
	"fmt"
	"strings"
	"testing"
)

// written sums up what stands in the store: the positions of all shards, and the number of rows in every table. Only
// what the service does by itself is left out: members, leases and marks of edges, and what was counted.
func (s *stage) written(t *testing.T) string {
	t.Helper()
	if s.count == "" {
		s.count = s.counting(t)
	}
	var sum string
	if err := s.rows.QueryRow(t.Context(), s.count).Scan(&sum); err != nil {
		t.Fatalf("count rows: %v", err)
	}
	return sum
}

// counting is the statement that counts.
func (s *stage) counting(t *testing.T) string {
	t.Helper()
	rows, err := s.rows.Query(t.Context(), `SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'public' AND c.relkind = 'r' AND NOT c.relispartition ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	parts := []string{`(SELECT 'positions ' || sum(seq) FROM shard_head)`}
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(table, "edge_") || strings.HasPrefix(table, "click_") || strings.HasSuffix(table, "_lease") {
			continue
		}
		parts = append(parts, fmt.Sprintf(`(SELECT '%s ' || count(*) FROM %q)`, table, table))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return "SELECT " + strings.Join(parts, ` || ', ' || `)
}
