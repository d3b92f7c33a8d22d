package feed

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func somebody() Member { return Member{ID: "edge-1:8080", Boot: "b00t"} }

func aProbe() *Probe {
	p := &Probe{Member: somebody(), Epoch: 3}
	p.Applied[0], p.Applied[ConfigShard] = 1<<60, 7
	return p
}

func anAck() *Ack {
	return &Ack{Member: somebody(), Epoch: 3, Positions: []Position{{Shard: 0, Seq: 1 << 60}, {Shard: ConfigShard, Seq: 7}}}
}

func sameAck(a, b *Ack) bool {
	return a.Member == b.Member && a.Epoch == b.Epoch && slices.Equal(a.Positions, b.Positions)
}

func TestProbeBytesRoundTrip(t *testing.T) {
	t.Parallel()
	leaving := aProbe()
	leaving.Leaving = true
	longest := aProbe()
	longest.Member = Member{ID: strings.Repeat("i", maxMember), Boot: strings.Repeat("b", maxMember)}
	for name, want := range map[string]*Probe{"staying": aProbe(), "leaving": leaving, "long names": longest} {
		got, err := ParseProbe(want.Append(nil))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if *got != *want {
			t.Errorf("%s: got %+v, want %+v", name, *got, *want)
		}
	}
}

func TestAckBytesRoundTrip(t *testing.T) {
	t.Parallel()
	full := anAck()
	full.Positions = make([]Position, MaxAck)
	for name, want := range map[string]*Ack{
		"two positions": anAck(), "none": {Member: somebody(), Epoch: 1}, "as many as there may be": full,
	} {
		got, err := ParseAck(want.Append(nil))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !sameAck(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestProbesAndAcksRefuseWhatTheyDoNotKnow(t *testing.T) {
	t.Parallel()
	parsers := map[string]func(b []byte) error{
		"probe": func(b []byte) error { _, err := ParseProbe(b); return err },
		"ack":   func(b []byte) error { _, err := ParseAck(b); return err },
	}
	for name, good := range map[string][]byte{"probe": aProbe().Append(nil), "ack": anAck().Append(nil)} {
		parse := parsers[name]
		for n := range good {
			if err := parse(good[:n]); !errors.Is(err, ErrFormat) {
				t.Errorf("%s, first %d of %d bytes: got error %v, want ErrFormat", name, n, len(good), err)
			}
		}
		if err := parse(append(slices.Clone(good), 0)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s, a byte too many: got error %v, want ErrFormat", name, err)
		}
		other := slices.Clone(good)
		other[0]++
		if err := parse(other); !errors.Is(err, ErrFormat) {
			t.Errorf("%s of another format: got error %v, want ErrFormat", name, err)
		}
	}
	for name, m := range map[string]Member{
		"no id": {Boot: "b"}, "no boot": {ID: "i"},
		"a long id":   {ID: strings.Repeat("i", maxMember+1), Boot: "b"},
		"a long boot": {ID: "i", Boot: strings.Repeat("b", maxMember+1)},
	} {
		if err := parsers["probe"]((&Probe{Member: m}).Append(nil)); !errors.Is(err, ErrFormat) {
			t.Errorf("probe with %s: got error %v, want ErrFormat", name, err)
		}
		if err := parsers["ack"]((&Ack{Member: m}).Append(nil)); !errors.Is(err, ErrFormat) {
			t.Errorf("ack with %s: got error %v, want ErrFormat", name, err)
		}
	}
	many := anAck()
	many.Positions = make([]Position, MaxAck+1)
	beyond := anAck()
	beyond.Positions[1].Shard = AllShards
	for name, a := range map[string]*Ack{"too many positions": many, "an unknown shard": beyond} {
		if err := parsers["ack"](a.Append(nil)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
	}
}

func FuzzParseProbe(f *testing.F) {
	f.Add(aProbe().Append(nil))
	f.Add(anAck().Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := ParseProbe(b); err == nil {
			again, err := ParseProbe(p.Append(nil))
			if err != nil || *again != *p {
				t.Errorf("probe %+v came back as %+v, %v", p, again, err)
			}
		}
		if a, err := ParseAck(b); err == nil {
			again, err := ParseAck(a.Append(nil))
			if err != nil || !sameAck(again, a) {
				t.Errorf("ack %+v came back as %+v, %v", a, again, err)
			}
		}
	})
}
