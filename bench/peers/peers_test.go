package peers

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"waypost/bench/fleet"
	"waypost/bench/load"
	"waypost/bench/measure"
	"waypost/deploy/services"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(services.Main(m)) }

func someLinks(n int) (links []fleet.Link) {
	for i := range n {
		links = append(links, fleet.Link{Code: fmt.Sprintf("code%03d", i), Target: fmt.Sprintf("https://example.com/%03d?with=a&query=b#and-more", i)})
	}
	return links
}

// A peer is worth a comparison only if it does its work, over connections that it keeps alive.
func TestAPeerRedirectsByAllLinksAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, name := range []Name{Nginx, HAProxy, Varnish, Bare, Epoll, Express, RedisOnly} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			if name == Express && testing.Short() {
				t.Skip("its packages come from npm: the long version installs them")
			}
			links := someLinks(200)
			p := Start(t, name, links, Anywhere)
			if p.Name != name {
				t.Errorf("got %s, want %s", p.Name, name)
			}
			var asks []load.Ask
			for _, l := range links {
				to := l.Target
				if p.Constant {
					to = links[0].Target
				}
				asks = append(asks, load.Redirect(l.Path(), to, load.Browser(0)...))
			}
			answered(t, p, asks)
			unknown(t, p)
			if used, err := measure.CPU(p.PIDs...); err != nil || used <= 0 {
				t.Errorf("got CPU %s, error %v, want some", used, err)
			}
		})
	}
}

// Whether its limiter is asked at all depends on how nginx comes to its answer.
func TestNginxLimitsWhoAsksForTooMuch(t *testing.T) {
	t.Parallel()
	s := newSite(t, Nginx, someLinks(1), Anywhere)
	startLimited(t, s, limit{rate: 1, burst: 20})
	refused := 0
	for range 50 { // quicker than one a second, whatever the machine
		if err := s.answers(t.Context(), 0); err != nil {
			refused++
		}
	}
	if refused == 0 || refused == 50 {
		t.Errorf("got %d of 50 requests refused, want those beyond a burst of 20", refused)
	}
}

// answered has every ask answered several times on each of a few connections.
func answered(t *testing.T, p *Peer, asks []load.Ask) {
	t.Helper()
	g, err := load.New(load.Plan{Addr: p.Addr, Conns: 3, Asks: asks})
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Open(t.Context(), 2000, time.Second)
	if err != nil || got.Answers != 2000 {
		t.Errorf("got %d answers, error %v, want 2000", got.Answers, err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// unknown asks for a code that no link has.
func unknown(t *testing.T, p *Peer) {
	t.Helper()
	want := http.StatusNotFound
	if p.Constant {
		want = http.StatusFound
	}
	conn, err := fleet.Connect(t.Context(), p.Addr, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // its answer is here
	if reply, err := conn.Ask(fleet.Request{Path: "/nobody"}); err != nil || reply.Status != want {
		t.Errorf("an unknown code: got %d, error %v, want %d", reply.Status, err, want)
	}
}
