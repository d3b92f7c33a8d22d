package l2

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/freeport"
	"waypost/deploy/process"
	"waypost/deploy/services"
)

// A node in cluster mode refuses what it cannot tell the slot of, and the client
// has to find each command's node.
func TestTheSameWorksOnACluster(t *testing.T) {
	t.Parallel()
	const keys = 200
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{startClusterNode(t)}, MaxRetries: -1, ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
	})
	o := newOrigin()
	for i := range keys {
		o.create(keyOf(i))
	}
	e := newEdge(o, config(client, o))
	e.run(t)
	eventually(t, "filters are there", func() bool { return e.inStepWith(t, o) })
	for i := range keys {
		o.create(keyOf(keys + i))
	}
	want := version(1, 9)
	e.Store(want)
	eventually(t, "the value is there", func() bool {
		got := e.find(t, want.Key).Entry
		return got != nil && *got == *want
	})
	eventually(t, "filters have moved", func() bool { return e.inStepWith(t, o) })
	noneRefused(t, e, 2*keys)
	if !e.refuses(t, keyOf(-1)) {
		t.Error("unknown key: got maybe, want no")
	}
}

// startClusterNode starts a cluster of one node that holds every slot.
func startClusterNode(t *testing.T) (addr string) {
	t.Helper()
	program, err := services.FindRedis()
	if err != nil {
		t.Fatal(err)
	}
	dir, port, bus := t.TempDir(), freePort(t), freePort(t)
	addr = net.JoinHostPort("127.0.0.1", port)
	conf := filepath.Join(dir, "redis.conf")
	lines := []string{
		"bind 127.0.0.1", "port " + port, "cluster-enabled yes", "cluster-port " + bus, "appendonly no", `save ""`,
	}
	if err := os.WriteFile(conf, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin := connect(t, addr)
	node, err := process.Start(within(t), process.Spec{
		Name: "redis cluster node", Path: program, Args: []string{conf}, Dir: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Kill)
	eventually(t, "the node answers", func() bool { return admin.Ping(within(t)).Err() == nil })
	if err := admin.ClusterAddSlotsRange(within(t), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cluster is up", func() bool {
		info, err := admin.ClusterInfo(within(t)).Result()
		return err == nil && strings.Contains(info, "cluster_state:ok")
	})
	return addr
}

// freePort is a port that is the caller's until the tests end.
func freePort(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return port
}
