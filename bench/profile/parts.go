package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Part is one of the things that an edge uses its CPU for.
type Part struct {
	Name  string
	Share float64 // of the profile, from 0 to 1
}

// other is what belongs to no part.
const other = "other"

// Parts divides a CPU profile into parts, the largest first. Each sample goes to the part of the innermost of its
// functions that has one: copying or a system call to who asked for it, a lock to who waits for it. There are none of a
// profile without samples.
func Parts(p *profile.Profile) []Part {
	var total int64
	sums := map[string]int64{}
	for _, s := range p.Sample {
		spent := s.Value[len(s.Value)-1] // in ns, behind the number of samples
		sums[partOf(s)] += spent
		total += spent
	}
	var parts []Part
	for name, sum := range sums {
		parts = append(parts, Part{name, float64(sum) / float64(total)})
	}
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name)) })
	return parts
}

// partOf is the part of a sample.
func partOf(s *profile.Sample) string {
	for _, l := range s.Location { // from the innermost one on, as are the lines of a place where functions are inlined
		for _, line := range l.Line {
			if line.Function == nil {
				continue
			}
			if name, ok := partOfFunction(line.Function.Name); ok {
				return name
			}
		}
	}
	return other
}

// partOfFunction is the part of a function by the beginning of its name, if it has one. What has none is done for
// somebody else.
func partOfFunction(function string) (name string, ok bool) {
	if function == "waypost/edge/internal/httpd.call" {
		return "", false // to the kernel, for one that reads or writes
	}
	for _, part := range []struct {
		name   string
		begins []string
	}{
		{"socket: answer written", []string{
			"waypost/edge/internal/httpd.(*headConn).Write", "waypost/edge/internal/httpd.(*headConn).send", "waypost/edge/internal/httpd.transmit",
		}},
		{"socket: request read", []string{"waypost/edge/internal/httpd.(*headConn).", "waypost/edge/internal/httpd.(*kept).", "waypost/edge/internal/httpd.receive"}},
		{"HTTP: head parsed, head made", []string{
			"github.com/valyala/fasthttp.", "waypost/edge/internal/httpd.(*head).", "waypost/edge/internal/httpd.controls",
			"waypost/edge/internal/httpd.(*handler).appendHit",
		}},
		{"metrics", []string{"waypost/edge/internal/httpd.(*Metrics).", "github.com/prometheus/"}},
		{"httpd: the answer put together", []string{"waypost/edge/internal/httpd."}},
		{"limiter", []string{"waypost/edge/internal/limit."}},
		{"the rule and L1", []string{"waypost/edge/internal/redirect.", "waypost/edge/internal/l1.", "waypost/shared/feed.", "github.com/dgraph-io/ristretto/"}},
		{"key and Location", []string{"waypost/shared/link."}},
		{"who it is: browser, referrer, language", []string{"waypost/edge/internal/visitor."}},
		{"clicks: record, spool, stretches", []string{"waypost/edge/internal/clicks", "waypost/shared/click.", "github.com/axiomhq/hyperloglog."}},
		{"audit", []string{"waypost/edge/internal/audit."}},
		{"leases, clock and feed", []string{"waypost/edge/internal/follow.", "github.com/nats-io/"}},
		{"L2", []string{"waypost/edge/internal/l2.", "waypost/shared/bloom.", "github.com/redis/"}},
		{"fills and all else that an origin is asked", []string{"waypost/edge/internal/fill.", "net/http.(*persistConn)."}},
		{"profiler", []string{"runtime/pprof.", "net/http/pprof.", "runtime.profileWriter"}},
		{"garbage collector", []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge"}},
		{"scheduler and poller", []string{"runtime.mcall", "runtime.mstart", "runtime.sysmon"}},
	} {
		for _, begins := range part.begins {
			if strings.HasPrefix(function, begins) {
				return part.name, true
			}
		}
	}
	return "", false
}
