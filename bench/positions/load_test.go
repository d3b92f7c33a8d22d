package positions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

// bulk makes links that nobody has read yet.
func (s *stage) bulk(t *testing.T, name string, n int) []fleet.Link {
	t.Helper()
	return s.api.MustBulk(t, n, func(i int) fleet.Fields { return fleet.Fields{"target": target(name, i)} })
}

// target is where a link leads, by a number that an answer tells again.
func target(name string, n int) string { return fmt.Sprintf("https://example.com/%s/%d", name, n) }

// numberOf reads it.
func numberOf(r fleet.Reply) (n int, err error) {
	to := r.Location()
	if r.Status != http.StatusFound {
		return 0, fmt.Errorf("status %d to %q (%s), want a redirect", r.Status, to, r.Header.Get("Cache-Status"))
	}
	_, err = fmt.Sscanf(to[strings.LastIndexByte(to, '/')+1:], "%d", &n)
	return n, err
}

// written is one write: when it began, how long until its answer, and what that said.
type written struct {
	began   time.Time
	took    time.Duration
	receipt fleet.Receipt
}

// retarget makes a link lead elsewhere; ack is edges or commit.
func (s *stage) retarget(ctx context.Context, l fleet.Link, ack, to string) (w written, err error) {
	w.began = time.Now()
	answer, err := s.api.Do(ctx, http.MethodPatch, "/links/"+l.Code+"?ack="+ack, fleet.Fields{"target": to})
	w.took = time.Since(w.began)
	switch {
	case err != nil:
		return w, err
	case answer.Status != http.StatusOK:
		return w, fmt.Errorf("patch %s: status %d: %s", l.Code, answer.Status, answer.Body)
	}
	w.receipt, err = answer.Receipt()
	return w, err
}

// writers is how many writes may be open at once: far more than are, so that none waits for another.
const writers = 128

// write changes links one after the other, at their times.
func (s *stage) write(t *testing.T, every time.Duration, n int, links []fleet.Link, ack string) (all []written, late measure.Sample) {
	t.Helper()
	all = make([]written, n)
	late, err := measure.Pace{Every: every, Jobs: n, Workers: min(writers, n)}.Run(t.Context(), func(_, job int) (err error) {
		all[job], err = s.retarget(t.Context(), links[job%len(links)], ack, target(ack, job))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, late
}

// took are the times that writes took, those that pass.
func took(all []written, pass func(w written) bool) measure.Sample {
	var times []time.Duration
	for _, w := range all {
		if pass == nil || pass(w) {
			times = append(times, w.took)
		}
	}
	return measure.NewSample(times)
}

// visitors are connections to edges. Those of one edge are beside each other.
type visitors struct {
	conns []*fleet.Conn
	edges []int // that each is connected to
	paths []string
	draws []*rand.Rand // of each connection
	tiers []Tiers      // that answered each
}

// visit connects to edges, each several times.
func (s *stage) visit(t *testing.T, links []fleet.Link, conns int, edges ...int) *visitors {
	t.Helper()
	v := &visitors{}
	for _, l := range links {
		v.paths = append(v.paths, l.Path())
	}
	for _, e := range edges {
		for range conns {
			conn, err := fleet.Connect(t.Context(), s.Edges[e].Addr, netip.Addr{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			v.conns, v.edges = append(v.conns, conn), append(v.edges, e)
			v.draws = append(v.draws, rand.New(rand.NewPCG(1, uint64(len(v.conns)))))
			v.tiers = append(v.tiers, Tiers{})
		}
	}
	return v
}

// everywhere are all edges.
func (s *stage) everywhere() (edges []int) {
	for i := range s.Edges {
		edges = append(edges, i)
	}
	return edges
}

// ask asks by one connection for the i-th link.
func (v *visitors) ask(conn, i int) (fleet.Reply, error) {
	r, err := v.conns[conn].Ask(fleet.Request{Path: v.paths[i]})
	if err == nil {
		v.tiers[conn].count(r)
	}
	return r, err
}

// any asks by one connection for a link that is drawn, all as likely, and wants to be led to it.
func (v *visitors) any(conn int) error {
	i := v.draws[conn].IntN(len(v.paths))
	r, err := v.ask(conn, i)
	if err == nil {
		_, err = numberOf(r)
	}
	return err
}

// warm asks each edge for every link until it answers all from its memory. What L1 was offered it may not take.
func (v *visitors) warm(t *testing.T) {
	t.Helper()
	for conn := range v.conns {
		if conn > 0 && v.edges[conn] == v.edges[conn-1] {
			continue
		}
		fleet.Await(t, "all links are in L1", func() error {
			cold := 0
			for i := range v.paths {
				r, err := v.ask(conn, i)
				if err != nil {
					t.Fatal(err)
				}
				if r.Tier() != "l1" {
					cold++
				}
			}
			if cold > 0 {
				return fmt.Errorf("%d are not", cold)
			}
			return nil
		})
	}
}

// told takes what the connections have counted so far.
func (v *visitors) told() Tiers {
	sum := Tiers{}
	for i, some := range v.tiers {
		sum.add(some)
		v.tiers[i] = Tiers{}
	}
	return sum
}
