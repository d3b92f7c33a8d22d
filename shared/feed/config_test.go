package feed

import (
	"errors"
	"testing"

	"waypost/shared/link"
)

func TestConfigFollowsItsChanges(t *testing.T) {
	t.Parallel()
	cfg, err := ParseConfig([]byte(`{"epoch":1,"seq":4,"rows":{"domain/a.example":"{\"host\":\"a.example\"}","later/x":"?"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := cfg.Domain([]byte("a.example")); !ok || d.Host != "a.example" {
		t.Errorf("a.example: got %+v, %v", d, ok)
	}
	add := &Change{Epoch: 1, Shard: ConfigShard, Seq: 5, Kind: Create, Key: link.Key{Code: DomainRow("b.example")}, Value: `{"host":"b.example"}`}
	drop := &Change{Epoch: 1, Shard: ConfigShard, Seq: 6, Kind: Changed, Key: link.Key{Code: DomainRow("a.example")}}
	next := cfg.With(add).With(drop)
	if _, ok := next.Domain([]byte("a.example")); ok {
		t.Error("a removed domain is still registered")
	}
	if _, ok := next.Domain([]byte("b.example")); !ok || next.Seq != 6 {
		t.Errorf("after its change b.example is registered: got %v at %d, want true at 6", ok, next.Seq)
	}
	if _, ok := cfg.Domain([]byte("b.example")); ok || cfg.Seq != 4 {
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
		if _, ok := cfg.Domain([]byte(host)); ok {
			t.Errorf("%s is registered by a row that does not say so", host)
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
