package feed

import "encoding/binary"

// Member names one run of an edge: an id that stays, and a boot that is drawn
// at every start. Both are at most 64 bytes.
type Member struct {
	ID   string
	Boot string
}

const maxMember = 64

func (m Member) append(dst []byte) []byte { return appendString(appendString(dst, m.ID), m.Boot) }

func (r *reader) member() Member {
	m := Member{ID: r.string(), Boot: r.string()}
	if m.ID == "" || m.Boot == "" || len(m.ID) > maxMember || len(m.Boot) > maxMember {
		r.fail()
	}
	return m
}

// Probe asks for the heads and says where the edge stands, which counts as an
// acknowledgement of every position up to there.
type Probe struct {
	Member  Member
	Leaving bool // the edge has sent its last answer; it is no member any more
	Epoch   uint64
	Applied [AllShards]uint64
}

// Append appends the probe's bytes.
func (p *Probe) Append(dst []byte) []byte {
	var leaving byte
	if p.Leaving {
		leaving = 1
	}
	dst = p.Member.append(append(dst, format))
	dst = append(dst, leaving)
	dst = binary.BigEndian.AppendUint64(dst, p.Epoch)
	for _, seq := range p.Applied {
		dst = binary.AppendUvarint(dst, seq)
	}
	return dst
}

// ParseProbe reads what Append wrote. The error is ErrFormat.
func ParseProbe(b []byte) (*Probe, error) {
	r := reader{s: string(b)}
	if r.u8() != format {
		return nil, ErrFormat
	}
	p := &Probe{Member: r.member(), Leaving: r.u8() != 0, Epoch: r.u64()}
	for i := range p.Applied {
		p.Applied[i] = r.uvarint()
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return p, nil
}

// MaxAck bounds the positions of one acknowledgement.
const MaxAck = AllShards

// Ack says that an edge has stored floor and applied of every position up to
// these.
type Ack struct {
	Member    Member
	Epoch     uint64
	Positions []Position
}

// Position is one position of one shard.
type Position struct {
	Shard int
	Seq   uint64
}

// Append appends the acknowledgement's bytes.
func (a *Ack) Append(dst []byte) []byte {
	dst = a.Member.append(append(dst, format))
	dst = binary.BigEndian.AppendUint64(dst, a.Epoch)
	dst = binary.AppendUvarint(dst, uint64(len(a.Positions)))
	for _, p := range a.Positions {
		dst = append(dst, byte(p.Shard)) //nolint:gosec // below AllShards
		dst = binary.AppendUvarint(dst, p.Seq)
	}
	return dst
}

// ParseAck reads what Append wrote. The error is ErrFormat.
func ParseAck(b []byte) (*Ack, error) {
	r := reader{s: string(b)}
	if r.u8() != format {
		return nil, ErrFormat
	}
	a := &Ack{Member: r.member(), Epoch: r.u64()}
	n := r.uvarint()
	if n > MaxAck {
		return nil, ErrFormat
	}
	for range n {
		p := Position{Shard: int(r.u8()), Seq: r.uvarint()}
		if p.Shard >= AllShards {
			r.fail()
		}
		a.Positions = append(a.Positions, p)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return a, nil
}

// SubjectProbe is where edges send probes as requests.
func SubjectProbe(prefix string) string { return prefix + ".probe" }

// SubjectAck is where edges acknowledge the changes of one origin. It is the
// reply subject of the changes that the origin publishes.
func SubjectAck(prefix, origin string) string { return prefix + ".ack." + origin }

// SubjectAckAll is where acknowledgements go that any origin may be waiting for:
// every origin hears them. No origin has that name.
func SubjectAckAll(prefix string) string { return SubjectAck(prefix, "all") }
