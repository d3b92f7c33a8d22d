package link

import "github.com/cespare/xxhash/v2"

// Key names a link: a registered domain in lower case without port ("" is the
// default domain) and an NFC-normalised code. It is comparable.
type Key struct {
	Domain string
	Code   string
}

// Append appends the key's bytes to dst: domain, 0x00, code. Neither part can
// contain 0x00, so the bytes are unique to the key.
func (k Key) Append(dst []byte) []byte {
	dst = append(dst, k.Domain...)
	dst = append(dst, 0)
	return append(dst, k.Code...)
}

// Hash is HashBytes of the key's bytes.
func (k Key) Hash() uint64 {
	var buf [512]byte
	return HashBytes(k.Append(buf[:0]))
}

// String is for logs and errors: "domain/code", or "code" on the default domain.
func (k Key) String() string {
	if k.Domain == "" {
		return k.Code
	}
	return k.Domain + "/" + k.Code
}

// HashBytes is xxhash64 (seed 0) of a key's bytes. Everything that is placed
// by key (shard, floor slot, L1) is derived from this one value.
func HashBytes(key []byte) uint64 { return xxhash.Sum64(key) }
