package ops

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

const maxRequestID = 64

// RequestID returns the X-Request-Id a client sent if it is 1 to 64 letters,
// digits, dots, dashes or underscores, so that it can go into logs and
// headers as it is; else a new random one of 16 hex digits.
//
// A request id joins log lines and grants nothing, so math/rand/v2 will do:
// unlike crypto/rand it cannot block a request, and its generator is seeded
// by the system in each process, so that two processes do not share ids.
func RequestID(incoming string) string {
	if isRequestID(incoming) {
		return incoming
	}
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64()) //nolint:gosec // not a secret, see above
	return hex.EncodeToString(id[:])
}

func isRequestID(s string) bool {
	if s == "" || len(s) > maxRequestID {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
