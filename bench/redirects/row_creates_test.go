package redirects

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/bench/fleet"
	"waypost/bench/load"
	"waypost/bench/measure"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// creators is how many clients make links at once.
const creators = 16

const createMethod = "%d clients at once, each the next link when the last one is made, %d turns of %s each after one that is left out, the API and two kinds of bare INSERTs in turns, in one database. " +
	"At the API, by the load's one thread: POST of target and alias with ack=commit by the key of an admin, over HTTP connections that are kept alive; key, target, block list and rate are checked, the position is taken, and outbox and history are written as always. " +
	"Bare: the same rows into the same tables with their indexes and triggers, a link's, a change's of the same size in the outbox, the first of a history and, by the trigger, the link's counter of clicks; all in one statement that commits by itself, prepared, over a connection of pgx each. " +
	"It takes no position, which is no row but an update of one, and looks at nothing before. A link's row alone: the same without outbox and history. " +
	"All wait for the disk (synchronous_commit=on, fsync). No core is anybody's: origin, PostgreSQL and clients share the machine's."

// creates measures how many links are made in a second.
func (m *measuring) creates(t *testing.T) {
	f := fleet.Start(t, fleet.Spec{Binaries: binaries, Edges: []string{"eu"}, EdgeEnv: edgeEnv(), DurablePostgres: m.Full(), PrivatePostgres: !m.Full()})
	c := &creating{Fleet: f, rate: m.Times(1000, 10_000), lasting: m.Lasting(200*time.Millisecond, 2*time.Second)}
	for range creators {
		conn, err := pgx.Connect(t.Context(), f.DatabaseURL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		c.conns = append(c.conns, conn)
	}
	rounds := m.Times(1, 7)
	var api, bare, alone []creation
	for round := range rounds + 1 {
		a := c.take(t, c.api)
		if round == 0 {
			c.copyRows(t)
		}
		b, l := c.take(t, c.bare), c.take(t, c.bareLink)
		if round > 0 {
			api, bare, alone = append(api, a), append(bare, b), append(alone, l)
		}
	}
	perSecond := func(c creation) float64 { return c.PerSecond() }
	made := 0
	for _, turn := range slices.Concat(api, bare, alone) {
		made += turn.Answers
	}
	m.Found(t, measure.Figure{
		Name: "creates", Unit: "links", N: made, Method: fmt.Sprintf(createMethod, creators, rounds, c.lasting),
		Values: []measure.Value{
			measure.Least("of bare INSERTs", 0, 0.5, "×").Of(quotients(each(api, perSecond), each(bare, perSecond))),
			measure.Number("at the API", 0, "/s").Of(each(api, perSecond)), measure.Number("bare INSERTs", 0, "/s").Of(each(bare, perSecond)),
			measure.Number("bare INSERTs of a link's row alone", 0, "/s").Of(each(alone, perSecond)),
			measure.Number("CPU of the origin a link", 0, "µs").Of(each(api, creation.ofOrigin)),
			measure.Number("of PostgreSQL", 0, "µs").Of(each(api, creation.ofPostgres)),
			measure.Number("of PostgreSQL a bare INSERT", 0, "µs").Of(each(bare, creation.ofPostgres)),
			measure.Number("of PostgreSQL a link's row alone", 0, "µs").Of(each(alone, creation.ofPostgres)),
		},
	})
}

// creating is a fleet on which links are made.
type creating struct {
	*fleet.Fleet
	conns   []*pgx.Conn
	rate    int // more than are made in a second
	lasting time.Duration
	made    int // aliases so far

	change  []byte // of a creation, as the outbox has it
	history string // of a creation, as JSON
}

// fresh is the next link, as nobody has it.
func (c *creating) fresh() fleet.Link {
	c.made++
	return fleet.Link{Code: fmt.Sprintf("made-%08d", c.made), Target: fmt.Sprintf("https://example.com/somewhere/to/go/%08d?with=a&query=b", c.made)}
}

// creation is a turn, and how much of what it cost was the origin's.
type creation struct {
	Turn
	origin time.Duration
}

// ofOrigin is the origin's CPU of a link, in microseconds.
func (c creation) ofOrigin() float64 { return micros(c.origin) / float64(c.Answers) }

// ofPostgres is PostgreSQL's.
func (c creation) ofPostgres() float64 { return c.PerAnswer() - c.ofOrigin() }

// take has links made and tells what that cost origin and PostgreSQL.
func (c *creating) take(t *testing.T, create func(*testing.T) load.Result) creation {
	t.Helper()
	origin, all := c.cpu(t)
	got := create(t)
	originThen, allThen := c.cpu(t)
	return creation{Turn{got, allThen - all}, originThen - origin}
}

// cpu is what the origin has used so far, and what it has together with PostgreSQL.
func (c *creating) cpu(t *testing.T) (origin, all time.Duration) {
	t.Helper()
	origin, err := measure.CPU(c.Origins[0].PID(t))
	if err != nil {
		t.Fatal(err)
	}
	database, err := measure.CPU(c.Postgres.PID())
	if err != nil {
		t.Fatal(err)
	}
	return origin, origin + database
}

// api makes links at the API.
func (c *creating) api(t *testing.T) load.Result {
	t.Helper()
	asks := make([]load.Ask, c.most())
	key := c.AdminKeys(t)[0]
	for i := range asks {
		l := c.fresh()
		body := fmt.Sprintf(`{"target":%q,"alias":%q}`, l.Target, l.Code)
		asks[i] = load.Ask{
			Request: fmt.Appendf(nil, "POST /api/v1/links?ack=commit HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", key, len(body), body),
			Status:  http.StatusCreated, Location: []byte("/api/v1/links/" + l.Code),
		}
	}
	g, err := load.New(load.Plan{Addr: c.Origins[0].API, Conns: creators, Asks: asks})
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Closed(t.Context(), c.lasting)
	if failed := g.Close(); err == nil {
		err = failed
	}
	if err != nil {
		t.Fatalf("creates at the API: %v", err)
	}
	return got
}

// most is how many links a turn may make, with what the fastest client takes of the others' share.
func (c *creating) most() int { return int(float64(c.rate)*c.lasting.Seconds()) + 100*creators }

// copyRows takes what creations have left in outbox and history as what bare INSERTs leave there too.
func (c *creating) copyRows(t *testing.T) {
	t.Helper()
	err := c.conns[0].QueryRow(t.Context(), `
		SELECT o.value, h.changes FROM links l JOIN outbox o USING (shard, domain, code) JOIN link_history h ON h.history_id = l.link_id
		ORDER BY l.link_id DESC LIMIT 1`).Scan(&c.change, &c.history)
	if err != nil {
		t.Fatalf("rows of a creation: %v", err)
	}
}

const insertLink = `
	INSERT INTO links (link_id, domain, code, shard, version, generated, target, target_hash, status, enabled, owner, title, tags,
		query, suffix, class, clicks, expired_url, max_clicks, created_at, updated_at)
	VALUES (nextval('link_id_seq'), '', $1, $2, 1, false, $3, $4, 302, true, '', '', '{}', 'off', 'off', 'available', true, '', 0, now(), now())`

// insertAll puts its changes on shards that there are not, where no edge asks for them.
const insertAll = `
	WITH made AS (` + insertLink + ` RETURNING link_id, shard, code),
	told AS (INSERT INTO outbox (shard, seq, kind, at, domain, code, value) SELECT 100 + shard, link_id, 1, now(), '', code, $5 FROM made)
	INSERT INTO link_history (history_id, version, previous, number, at, by_key, owner, action, changes)
	SELECT link_id, 1, 0, 1, now(), 'measured', '', 'create', $6 FROM made`

// bare makes links by INSERTs, with all rows that creations leave. They are as theirs, but all of one version.
func (c *creating) bare(t *testing.T) load.Result {
	t.Helper()
	return c.insert(t, insertAll, c.change, c.history)
}

// bareLink makes nothing but rows of links.
func (c *creating) bareLink(t *testing.T) load.Result {
	t.Helper()
	return c.insert(t, insertLink)
}

// insert makes links by a statement, whose further values are the same for all.
func (c *creating) insert(t *testing.T, statement string, further ...any) load.Result {
	t.Helper()
	links := make([]fleet.Link, c.most())
	for i := range links {
		links[i] = c.fresh()
	}
	counts := make([]int, creators)
	began := time.Now()
	_, err := measure.Pace{Jobs: creators, Workers: creators}.Run(t.Context(), func(worker, job int) error {
		for i := job; i < len(links) && time.Since(began) < c.lasting; i += creators {
			l := links[i]
			shard := feed.Shard(link.Key{Code: l.Code}.Hash())
			hash := int64(link.HashBytes([]byte(l.Target)))
			if _, err := c.conns[worker].Exec(t.Context(), statement, append([]any{l.Code, shard, l.Target, hash}, further...)...); err != nil {
				return fmt.Errorf("insert %s: %w", l.Code, err)
			}
			counts[job]++
		}
		return nil
	})
	took := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return load.Result{Answers: sum, Took: took}
}
