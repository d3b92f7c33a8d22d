package fleet

// Spec says what a fleet is made of. Only Binaries is required.
type Spec struct {
	Binaries *Binaries

	Origins int      // 0: one
	Edges   []string // the region of each edge; nil: one in eu, one in us

	// Variables for all origins and for all edges, beside those that connect the parts. By default the limiter is off
	// and a service told to stop drains at once.
	OriginEnv, EdgeEnv map[string]string
	OneEdgeEnv         []map[string]string // for single edges, in the order of Edges; wins over EdgeEnv

	KeepState       bool // each edge has a state folder of its own, which outlives its restarts
	PrivatePostgres bool // a cluster of its own, which can be stopped
	DurablePostgres bool // a cluster of its own whose commits wait for the disk, for figures of what a write takes
	ProxyPostgres   bool // each origin reaches PostgreSQL through a proxy of its own
	ProxyEdges      bool // each edge reaches each origin, and NATS, through a proxy of its own
	Failpoints      bool // each service can be armed; needs binaries that were built with the tag failpoint
	ProxyRedis      bool // each edge, and the origins together, reach Redis through a proxy of their own

	RedisMemory int64 // of each region, in bytes; 0: 64 MiB
}

func (s Spec) withDefaults() Spec {
	if s.Origins == 0 {
		s.Origins = 1
	}
	if s.Edges == nil {
		s.Edges = []string{"eu", "us"}
	}
	return s
}

// oneEdgeEnv is what the i-th edge alone is told.
func (s Spec) oneEdgeEnv(i int) map[string]string {
	if i < len(s.OneEdgeEnv) {
		return s.OneEdgeEnv[i]
	}
	return nil
}
