package fleet

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"waypost/deploy/services"
)

// The names that all parts of a fleet agree on.
const (
	home         = "eu" // the region whose Redis the origins use too
	edgePrefix   = "wp"
	originPrefix = "wpo"
	secret       = "between origins and edges"
)

// Secret is by what origins know the edges of a fleet, for a test that speaks as one.
const Secret = secret

// Fleet is a running Waypost: real PostgreSQL, a Redis a region, NATS, and the services as processes.
type Fleet struct {
	Origins []*Origin
	Edges   []*Edge

	Postgres *services.PostgresServer         // nil unless Spec.PrivatePostgres or Spec.DurablePostgres
	Redis    map[string]*services.RedisServer // by region
	NATS     *services.NATSServer

	// RedisProxies stand before Redis: one for each edge, in the order of Edges, then the origins'. Nil unless
	// Spec.ProxyRedis.
	RedisProxies []*services.Proxy

	databaseURL string
	natsURL     string
}

// Origin is one origin.
type Origin struct {
	*Process
	API      string          // address of the public listener
	Internal string          // address of the listener that edges call
	Database *services.Proxy // what it reaches PostgreSQL through; nil unless Spec.ProxyPostgres

	keyFile string
}

// Edge is one edge.
type Edge struct {
	*Process
	Region string
	Addr   string // of the public listener

	// ToOrigins and ToNATS are what it reaches the origins' internal listeners, in the order of Fleet.Origins, and NATS
	// through. Nil unless Spec.ProxyEdges.
	ToOrigins []*services.Proxy
	ToNATS    *services.Proxy

	State string // its state folder; "" unless Spec.KeepState
}

// Start makes a fleet, starts it, and ends all of it at the test's end. Every process must stop in time and with
// exit status 0, and no log may tell of a data race or a panic. If the test failed, the logs are printed.
func Start(tb testing.TB, spec Spec) *Fleet {
	tb.Helper()
	f := Prepare(tb, spec)
	f.Launch(tb)
	f.Settle(tb)
	return f
}

// Prepare makes a fleet and starts what it depends on, but none of its own processes.
func Prepare(tb testing.TB, spec Spec) *Fleet {
	tb.Helper()
	spec = spec.withDefaults()
	f := &Fleet{Redis: map[string]*services.RedisServer{}, NATS: services.NATS(tb)}
	f.natsURL = f.NATS.URL()
	switch {
	case spec.DurablePostgres:
		f.Postgres = durablePostgres(tb)
		f.databaseURL = f.Postgres.URL()
	case spec.PrivatePostgres:
		f.Postgres = services.PrivatePostgres(tb)
		f.databaseURL = f.Postgres.URL()
	default:
		f.databaseURL = services.Postgres(tb)
	}
	for _, region := range append([]string{home}, spec.Edges...) {
		if f.Redis[region] == nil {
			f.Redis[region] = startRedis(tb, spec.RedisMemory)
		}
	}
	if spec.ProxyRedis {
		for _, region := range append(slices.Clone(spec.Edges), home) {
			f.RedisProxies = append(f.RedisProxies, services.NewProxy(tb, f.Redis[region].Addr()))
		}
	}
	for i := range spec.Origins {
		f.Origins = append(f.Origins, f.newOrigin(tb, spec, i))
	}
	for i := range spec.Edges {
		f.Edges = append(f.Edges, f.newEdge(tb, spec, i))
	}
	if spec.Failpoints {
		f.makeArmable(tb)
	}
	return f
}

// Launch starts all origins at once, then all edges at once, and waits until each is ready.
func (f *Fleet) Launch(tb testing.TB) {
	tb.Helper()
	f.LaunchOrigins(tb)
	f.LaunchEdges(tb)
}

// LaunchOrigins starts all origins at once, and waits until each is ready.
func (f *Fleet) LaunchOrigins(tb testing.TB) {
	tb.Helper()
	for _, o := range f.Origins {
		o.Launch(tb)
	}
	for _, o := range f.Origins {
		o.AwaitReady(tb)
	}
}

// LaunchEdges starts all edges at once, and waits until each is ready.
func (f *Fleet) LaunchEdges(tb testing.TB) {
	tb.Helper()
	for _, e := range f.Edges {
		e.Launch(tb)
	}
	for _, e := range f.Edges {
		e.AwaitReady(tb)
	}
}

func (f *Fleet) newOrigin(tb testing.TB, spec Spec, i int) *Origin {
	tb.Helper()
	o := &Origin{API: freeAddr(tb), Internal: freeAddr(tb), keyFile: filepath.Join(tb.TempDir(), "admin.key")}
	databaseURL := f.databaseURL
	if spec.ProxyPostgres {
		u, err := url.Parse(databaseURL)
		if err != nil {
			tb.Fatal(err)
		}
		o.Database = services.NewProxy(tb, u.Host)
		u.Host = o.Database.Addr()
		databaseURL = u.String()
	}
	o.Process = newProcess(tb, spec.Binaries, "origin-"+strconv.Itoa(i), originBinary, []string{"serve"}, map[string]string{
		"WAYPOST_LISTEN":          o.API,
		"WAYPOST_INTERNAL_LISTEN": o.Internal,
		"WAYPOST_INTERNAL_SECRET": secret,
		"WAYPOST_DATABASE_URL":    databaseURL,
		"WAYPOST_REDIS_URL":       f.redisURL(spec, home, len(spec.Edges)),
		"WAYPOST_REDIS_PREFIX":    originPrefix,
		"WAYPOST_NATS_URL":        f.natsURL,
		"WAYPOST_PUBLIC_URL":      "http://wp.example",
		"WAYPOST_DRAIN":           "0s",
		"WAYPOST_ADMIN_KEY_FILE":  o.keyFile,
	}, spec.OriginEnv)
	return o
}

func (f *Fleet) newEdge(tb testing.TB, spec Spec, i int) *Edge {
	tb.Helper()
	region := spec.Edges[i]
	e := &Edge{Region: region, Addr: freeAddr(tb)}
	natsURL := f.natsURL
	if spec.ProxyEdges {
		for _, o := range f.Origins {
			e.ToOrigins = append(e.ToOrigins, services.NewProxy(tb, o.Internal))
		}
		e.ToNATS = services.NewProxy(tb, f.NATS.Addr())
		natsURL = "nats://" + e.ToNATS.Addr()
	}
	if spec.KeepState {
		e.State = tb.TempDir()
	}
	e.Process = newProcess(tb, spec.Binaries, "edge-"+region+"-"+strconv.Itoa(i), edgeBinary, nil, map[string]string{
		"WAYPOST_REGION":          region,
		"WAYPOST_EDGE_ID":         region + "-" + strconv.Itoa(i),
		"WAYPOST_LISTEN":          e.Addr,
		"WAYPOST_ORIGIN_URL":      f.originURLs(e, i),
		"WAYPOST_INTERNAL_SECRET": secret,
		"WAYPOST_REDIS_URL":       f.redisURL(spec, region, i),
		"WAYPOST_REDIS_PREFIX":    edgePrefix,
		"WAYPOST_NATS_URL":        natsURL,
		"WAYPOST_STATE_DIR":       e.State,
		"WAYPOST_LIMIT_MODE":      "off",
		"WAYPOST_DRAIN":           "0s",
	}, spec.EdgeEnv, spec.oneEdgeEnv(i))
	return e
}

// originURLs lists all origins, each edge another one first.
func (f *Fleet) originURLs(e *Edge, edge int) string {
	var urls []string
	for i := range f.Origins {
		at := (edge + i) % len(f.Origins)
		addr := f.Origins[at].Internal
		if e.ToOrigins != nil {
			addr = e.ToOrigins[at].Addr()
		}
		urls = append(urls, "http://"+addr)
	}
	return strings.Join(urls, ",")
}

// redisURL is the region's Redis, or the proxy with this index before it.
func (f *Fleet) redisURL(spec Spec, region string, proxy int) string {
	if spec.ProxyRedis {
		return "redis://" + f.RedisProxies[proxy].Addr() + "/0"
	}
	return f.Redis[region].URL()
}

// AdminKeys are the first keys that this fleet's origins made, one at most from each.
func (f *Fleet) AdminKeys(tb testing.TB) (keys []string) {
	tb.Helper()
	for _, o := range f.Origins {
		b, err := os.ReadFile(o.keyFile)
		switch {
		case err == nil:
			keys = append(keys, strings.TrimSpace(string(b)))
		case !os.IsNotExist(err):
			tb.Fatalf("%s: admin key: %v", o.Name, err)
		}
	}
	return keys
}

// API calls the first origin as the admin.
func (f *Fleet) API(tb testing.TB) *API {
	tb.Helper()
	return f.APIOf(tb, f.Origins[0])
}

// APIOf calls an origin as the admin.
func (f *Fleet) APIOf(tb testing.TB, o *Origin) *API {
	tb.Helper()
	keys := f.AdminKeys(tb)
	if len(keys) != 1 {
		tb.Fatalf("admin keys: got %d, want 1", len(keys))
	}
	return newAPI(tb, o.API, keys[0])
}
