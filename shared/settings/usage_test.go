package settings_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"waypost/shared/settings"
)

type documented struct {
	Listen string         `env:"WAYPOST_LISTEN" default:":8080" help:"address of the public listener" format:"address"`
	Rate   float64        `env:"WAYPOST_LIMIT_RATE" default:"50" unit:"requests per second and client" help:"sustained rate"`
	Mode   string         `env:"WAYPOST_LIMIT_MODE" default:"async" enum:"async,exact" help:"where buckets are kept"`
	Secret string         `env:"WAYPOST_INTERNAL_SECRET" secret:"true" default:"hunter2" help:"shared with the origins"`
	ID     string         `env:"WAYPOST_EDGE_ID" computed:"host name and port" help:"name of this edge"`
	Origin []string       `env:"WAYPOST_ORIGIN_URL" required:"true" format:"http" help:"origins"`
	Cap    time.Duration  `env:"WAYPOST_STALE_CAP" default:"24h" help:"oldest stale answer"`
	L1     settings.Bytes `env:"WAYPOST_L1_BYTES" default:"64MiB" help:"size of L1"`
	Clicks bool           `env:"WAYPOST_CLICKS" default:"on" help:"count clicks"`
	NATS   string         `env:"WAYPOST_NATS_URL" format:"url" help:"message bus"`
	Note   string         `flag:"note" help:"free text"`
}

func TestTableDescribesEverySetting(t *testing.T) {
	t.Parallel()
	want := []settings.Row{
		{Flag: "--listen", Env: "WAYPOST_LISTEN", Unit: "host:port", Default: ":8080", Help: "address of the public listener"},
		{Flag: "--limit-rate", Env: "WAYPOST_LIMIT_RATE", Unit: "requests per second and client", Default: "50", Help: "sustained rate"},
		{Flag: "--limit-mode", Env: "WAYPOST_LIMIT_MODE", Unit: "async, exact", Default: "async", Help: "where buckets are kept"},
		{Flag: "--internal-secret", Env: "WAYPOST_INTERNAL_SECRET", Help: "shared with the origins", Secret: true},
		{Flag: "--edge-id", Env: "WAYPOST_EDGE_ID", Default: "host name and port", Help: "name of this edge"},
		{Flag: "--origin-url", Env: "WAYPOST_ORIGIN_URL", Unit: "list, comma-separated", Help: "origins", Required: true},
		{Flag: "--stale-cap", Env: "WAYPOST_STALE_CAP", Unit: "duration, such as 1s", Default: "24h", Help: "oldest stale answer"},
		{Flag: "--l1-bytes", Env: "WAYPOST_L1_BYTES", Unit: "bytes, such as 64MiB", Default: "64MiB", Help: "size of L1"},
		{Flag: "--clicks", Env: "WAYPOST_CLICKS", Unit: "on or off", Default: "on", Help: "count clicks"},
		{Flag: "--nats-url", Env: "WAYPOST_NATS_URL", Unit: "URL", Help: "message bus"},
		{Flag: "--note", Help: "free text"},
	}
	for name, cfg := range map[string]any{"value": documented{}, "pointer": &documented{}} {
		if got := settings.Table(cfg); !reflect.DeepEqual(got, want) {
			t.Errorf("Table of a %s:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

func TestUsageShowsEverythingButSecrets(t *testing.T) {
	t.Parallel()
	cfg := documented{Secret: "hunter2"}
	var b strings.Builder
	if err := settings.Usage(&b, "waypost-edge", &cfg); err != nil {
		t.Fatalf("Usage: %v", err)
	}
	for _, want := range []string{
		"usage: waypost-edge [flags]\n",
		"\n  --listen  (WAYPOST_LISTEN)\n        address of the public listener\n        [host:port; default :8080]\n",
		"\n  --limit-rate  (WAYPOST_LIMIT_RATE)\n        sustained rate\n        [requests per second and client; default 50]\n",
		"\n  --internal-secret, --internal-secret-file  (WAYPOST_INTERNAL_SECRET, WAYPOST_INTERNAL_SECRET_FILE)\n        shared with the origins\n",
		"\n  --origin-url  (WAYPOST_ORIGIN_URL)\n        origins\n        [list, comma-separated; required]\n",
		"\n  --note\n        free text\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("Usage lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "hunter2") {
		t.Errorf("Usage shows a secret:\n%s", b.String())
	}
}
