package click

import (
	"encoding/binary"
)

// Record is one click as an edge saw it. It holds no address and no agent.
type Record struct {
	At       int64  // microseconds since 1970, PostgreSQL's clock as the edge estimates it
	Link     uint64 // link_id: an alias that was made anew has another one and starts at 0
	Shard    uint8
	Version  uint64 // of the link that was served
	Status   uint16 // of the answer
	Visitor  uint64 // hash of address and agent under the day's salt; 0: none (no salt, or a bot)
	Referrer string // host, lower case, valid UTF-8, at most MaxReferrer bytes; "" is direct
	Language string // first tag of Accept-Language, lower case, at most MaxLanguage bytes; "" is unknown
	Country  string // two letters, upper case; "" is unknown
	Device   Device
	Browser  Browser
	OS       OS
	Bot      bool // crawler or prefetch
}

// Kind says what a payload of the spool is.
type Kind uint8

// The kinds. A change of a kind's bytes is a new kind, so that logs of an older
// version stay readable.
const (
	KindClick   Kind = 1 + iota
	KindVoid         // a click was not answered with a redirect after all
	KindOrphans      // requests for codes that do not exist
)

// KindOf is the kind of a payload, 0 where it is empty.
func KindOf(payload []byte) Kind {
	if len(payload) == 0 {
		return 0
	}
	return Kind(payload[0])
}

const flagBot = 1

// fixedBytes are what every record begins with: kind, time, flags, device, browser,
// operating system, shard, country, status, visitor.
const fixedBytes = 1 + 8 + 5 + 2 + 2 + 8

// Append appends the record's payload, at most MaxRecord bytes: kind, time,
// classes and country at fixed offsets, then numbers and strings of any length.
// Strings that are too long are cut.
func (r *Record) Append(dst []byte) []byte {
	var fixed [fixedBytes]byte
	fixed[0] = byte(KindClick)
	binary.BigEndian.PutUint64(fixed[1:], uint64(min(max(r.At, 0), maxAt)))
	if r.Bot {
		fixed[9] = flagBot
	}
	fixed[10], fixed[11], fixed[12], fixed[13] = byte(r.Device), byte(r.Browser), byte(r.OS), r.Shard
	if len(r.Country) == 2 {
		fixed[14], fixed[15] = r.Country[0], r.Country[1]
	}
	binary.BigEndian.PutUint16(fixed[16:], r.Status)
	binary.BigEndian.PutUint64(fixed[18:], r.Visitor)
	dst = append(dst, fixed[:]...)
	dst = binary.AppendUvarint(dst, r.Link)
	dst = binary.AppendUvarint(dst, r.Version)
	dst = appendString(dst, cut(r.Language, MaxLanguage))
	return appendString(dst, cut(r.Referrer, MaxReferrer))
}

// ParseRecord reads what Record.Append wrote. Strings that are no text (invalid
// UTF-8, control bytes) become Other. The error is ErrFormat.
func ParseRecord(payload []byte) (Record, error) {
	var rec Record
	words, err := rec.Parse(payload)
	if err != nil {
		return Record{}, err
	}
	rec.Country, rec.Language, rec.Referrer = Word(words.Country), Word(words.Language), Word(words.Referrer)
	return rec, nil
}

// Words are the strings of a record as bytes of its payload, of which Word makes
// what they stand for; empty where the record has none.
type Words struct{ Country, Language, Referrer []byte }

// Word is the string that bytes of a record stand for: Other if they are no text.
func Word(b []byte) string {
	if !isText(b) {
		return Other
	}
	return string(b)
}

// Parse is ParseRecord for who has strings of the same bytes already: those of the
// record become empty, and are returned as they stand in the payload. After an
// error the record is of no use.
func (r *Record) Parse(payload []byte) (Words, error) {
	if len(payload) < fixedBytes || Kind(payload[0]) != KindClick {
		return Words{}, ErrFormat
	}
	at := binary.BigEndian.Uint64(payload[1:])
	if at > maxAt {
		return Words{}, ErrFormat
	}
	*r = Record{
		At:      int64(at),
		Bot:     payload[9]&flagBot != 0,
		Device:  known(Device(payload[10]), Devices),
		Browser: known(Browser(payload[11]), Browsers),
		OS:      known(OS(payload[12]), Systems),
		Shard:   payload[13],
		Status:  binary.BigEndian.Uint16(payload[16:]),
		Visitor: binary.BigEndian.Uint64(payload[18:]),
	}
	var words Words
	if payload[14] != 0 {
		words.Country = payload[14:16]
	}
	rest := reader{b: payload[fixedBytes:]}
	r.Link, r.Version = rest.uvarint(), rest.uvarint()
	words.Language, words.Referrer = rest.bytes(MaxLanguage), rest.bytes(MaxReferrer)
	return words, rest.end()
}

// AppendVoid appends the payload that cancels the click whose record stands at
// an offset of the same log.
func AppendVoid(dst []byte, at uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, byte(KindVoid)), at)
}

// ParseVoid reads what AppendVoid wrote. The error is ErrFormat.
func ParseVoid(payload []byte) (at uint64, err error) {
	if len(payload) != 9 || Kind(payload[0]) != KindVoid {
		return 0, ErrFormat
	}
	return binary.BigEndian.Uint64(payload[1:]), nil
}

// HourCount is a number of orphans in an hour.
type HourCount struct {
	Hour  int64 // hours since 1970
	Count uint64
}

// Append appends the payload of a spool.
func (c HourCount) Append(dst []byte) []byte {
	dst = append(dst, byte(KindOrphans))
	dst = binary.AppendUvarint(dst, uint64(max(c.Hour, 0)))
	return binary.AppendUvarint(dst, c.Count)
}

// ParseOrphans reads what HourCount.Append wrote. The error is ErrFormat.
func ParseOrphans(payload []byte) (HourCount, error) {
	if KindOf(payload) != KindOrphans {
		return HourCount{}, ErrFormat
	}
	r := reader{b: payload[1:]}
	c := HourCount{Hour: r.hour(0), Count: r.count()}
	if err := r.end(); err != nil {
		return HourCount{}, err
	}
	return c, nil
}
