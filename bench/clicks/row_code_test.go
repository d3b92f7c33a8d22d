package clicks

import (
	"slices"
	"strconv"
	"testing"

	"waypost/bench/measure"
)

// benchmark runs benchmarks of a package, several times for figures. A small run shows that they run: with the race
// detector, with which the package has been built already where tests are run, and beside the other rows.
func (m *measuring) benchmark(t *testing.T, pkg, pattern string, count int, benchtime string) measure.Benchmarks {
	t.Helper()
	m.beside(t)
	if !m.Full() {
		return measure.GoBench(t, pkg, pattern, "-race", "-vet=off", "-short", "-benchtime", "1x")
	}
	return measure.GoBench(t, pkg, pattern, "-benchtime", benchtime, "-count", strconv.Itoa(count))
}

const clicksPackage = "waypost/edge/internal/clicks"

func (m *measuring) costOfAppending(t *testing.T) {
	const pattern, one, many = "^BenchmarkAppend$/^spool$/^procs=1$", "BenchmarkAppend/spool/procs=1/goroutines=1", "BenchmarkAppend/spool/procs=1/goroutines=64"
	found := m.benchmark(t, clicksPackage+"/spool", pattern, 5, "500ms")
	appended := found.Of(t, many, "cpu-ns/op")
	m.Found(t, measure.Figure{
		Name: "CPU of an append to the spool", Unit: "repetitions of each benchmark", N: len(appended),
		Values: []measure.Value{
			measure.Most("64 at once", measure.Median(appended)/1000, 1, "µs"),
			measure.Number("one alone", measure.Median(found.Of(t, one, "cpu-ns/op"))/1000, "µs"),
			measure.Most("allocations", slices.Max(found.Of(t, many, "allocs/op")), 0, ""),
		},
		Method: "`go test -bench '" + pattern + "' " + clicksPackage + "/spool`: 90 bytes, on one processor; processor time of the whole process, " +
			"the writer's and its system calls' too. What else was tried stands in the package's README. Medians.",
	})
}

func (m *measuring) costOfDescribing(t *testing.T) {
	const pkg, pattern, name = "waypost/edge/internal/visitor", "^BenchmarkDescribe$", "BenchmarkDescribe"
	found := m.benchmark(t, pkg, pattern, 5, "500ms")
	took := found.Of(t, name, "ns/op")
	m.Found(t, measure.Figure{
		Name: "describing a visitor", Unit: "repetitions", N: len(took),
		Values: []measure.Value{
			measure.Number("a visit", measure.Median(took)/1000, "µs"),
			measure.Most("allocations", slices.Max(found.Of(t, name, "allocs/op")), 0, ""),
		},
		Method: "`go test -bench '" + pattern + "' " + pkg + "`: classes of an agent that was seen before, referrer, language, country by a file, and the visitor's hash under the day's salt. Medians.",
	})
}

func (m *measuring) costOfAddingUp(t *testing.T) {
	links, pattern := []int{1, 100, 10_000}, "^BenchmarkStretches$"
	if !m.Full() {
		links, pattern = links[:1], pattern+"/^1_link$"
	}
	found := m.benchmark(t, clicksPackage, pattern, 3, "1x")
	for _, n := range links {
		name := "BenchmarkStretches/" + strconv.Itoa(n) + "_links"
		if n == 1 {
			name = "BenchmarkStretches/1_link"
		}
		rates := found.Of(t, name, "clicks/cpu-s")
		m.Found(t, measure.Figure{
			Name: "adding up clicks of " + strconv.Itoa(n) + " links at the edge", Unit: "repetitions of 500,000 clicks", N: len(rates),
			Values: []measure.Value{
				measure.Number("a click", 1e6/measure.Median(rates), "µs"),
				measure.Number("on the wire", measure.Median(found.Of(t, name, "bytes/click")), "bytes a click"),
				measure.Number("in the spool", measure.Median(found.Of(t, name, "disk/click")), "bytes a click"),
			},
			Method: "`go test -bench '^BenchmarkStretches$' " + clicksPackage + "`: from a log's files to the bytes of stretches that are as long as they may be, every click another " +
				"visitor's, all links as likely. Processor time of the process. Medians.",
		})
	}
}

func (m *measuring) costOfTheIngest(t *testing.T) {
	const pkg = "waypost/origin/internal/postgres"
	type size struct{ links, clicks int }
	sizes, pattern := []size{{1, 50_000}, {100, 50_000}, {10_000, 50_000}, {10_000, 200_000}}, "^BenchmarkApplyStretch$"
	if !m.Full() {
		sizes, pattern = sizes[:1], pattern+"/^links=1$"
	}
	found := m.benchmark(t, pkg, pattern, 3, "5x")
	for _, s := range sizes {
		name := "BenchmarkApplyStretch/links=" + strconv.Itoa(s.links) + "/clicks=" + strconv.Itoa(s.clicks)
		rates := found.Of(t, name, "clicks/s")
		rate := measure.Number("ingest", measure.Median(rates), "clicks/s")
		if s.clicks > 50_000 {
			rate = measure.Least("ingest", measure.Median(rates), 50_000, "clicks/s")
		}
		m.Found(t, measure.Figure{
			Name: "ingest, " + strconv.Itoa(s.clicks) + " clicks of " + strconv.Itoa(s.links) + " links in a stretch", Unit: "repetitions", N: len(rates),
			Values: []measure.Value{
				rate, measure.Number("a click", measure.Median(found.Of(t, name, "µs/click")), "µs"),
				measure.Number("a stretch", measure.Median(found.Of(t, name, "bytes/stretch"))/1024, "KiB"),
			},
			Method: "`go test -bench '^BenchmarkApplyStretch$' " + pkg + "`: one sender; from a stretch's bytes to its commit, every click another " +
				"visitor's and all links as likely. PostgreSQL shares the two cores and does not wait for its disk. Medians.",
		})
	}
}
