package feed

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"waypost/shared/link"
)

func TestConfigFollowsItsChanges(t *testing.T) {
	t.Parallel()
	cfg, err := ParseConfig([]byte(`{"epoch":1,"seq":4,"rows":{"domain/a.example":"{\"host\":\"a.example\"}","later/x":"?"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cfg.Domain([]byte("a.example")); d == nil || d.Host != "a.example" {
		t.Errorf("a.example: got %+v", d)
	}
	add := &Change{Epoch: 1, Shard: ConfigShard, Seq: 5, Kind: Create, Key: link.Key{Code: DomainRow("b.example")}, Value: `{"host":"b.example"}`}
	drop := &Change{Epoch: 1, Shard: ConfigShard, Seq: 6, Kind: Changed, Key: link.Key{Code: DomainRow("a.example")}}
	next := cfg.With(add).With(drop)
	if next.Domain([]byte("a.example")) != nil {
		t.Error("a removed domain is still registered")
	}
	if d := next.Domain([]byte("b.example")); d == nil || next.Seq != 6 {
		t.Errorf("after its change b.example is registered: got %v at %d, want it at 6", d, next.Seq)
	}
	if cfg.Domain([]byte("b.example")) != nil || cfg.Seq != 4 {
		t.Error("With changed the config it was called on")
	}
}

func TestConfigOfAnUnreadableDomainIsKept(t *testing.T) {
	t.Parallel()
	cfg, err := ParseConfig([]byte(`{"epoch":1,"rows":{"domain/a.example":"not json","domain/b.example":"{\"host\":\"c.example\"}"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"a.example", "b.example", "c.example"} {
		if cfg.Domain([]byte(host)) != nil {
			t.Errorf("%s is registered by a row that does not say so", host)
		}
	}
}

// Edges bound the answer that a config comes in.
func TestAConfigIsAtMostTwiceAsLongAsItsRows(t *testing.T) {
	t.Parallel()
	const n = 10_000
	for _, c := range []string{"&", "<", `"`, "x"} {
		value := strings.Repeat(c, n)
		b := NewConfig(1, 1, map[string]string{"row": value}).Append([]byte("before "))
		back, err := ParseConfig(bytes.TrimPrefix(b, []byte("before ")))
		if err != nil || len(b) > 2*n+100 {
			t.Fatalf("%d of %s: %d bytes, %v, want at most twice as many", n, c, len(b), err)
		}
		if got, ok := back.rows.value(rowHash("row"), "row"); !ok || got != value {
			t.Errorf("%s: got another value back", c)
		}
	}
}

func TestParseConfigRefusesDamage(t *testing.T) {
	t.Parallel()
	for _, b := range []string{"", "{", "{}", `{"epoch":-1}`, `{"epoch":1,"rows":[]}`} {
		if _, err := ParseConfig([]byte(b)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: got error %v, want ErrFormat", b, err)
		}
	}
}
