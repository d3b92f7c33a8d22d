package links

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"
	"time"
)

// The scopes of API keys. An admin key may do everything.
const (
	ScopeLinksRead  = "links:read"
	ScopeLinksWrite = "links:write"
	ScopeStatsRead  = "stats:read"
	ScopeAdmin      = "admin"
)

// APIKey is what is kept of an API key. The key itself, wp_<id>_<secret>, is
// shown once and nowhere stored.
type APIKey struct {
	ID     string   // public; finds the row
	Hash   [32]byte // SHA-256 of the secret
	Owner  string   // the owner it is confined to; "" = none
	Scopes []string // at least one, without repeats, in the order of the constants
	Note   string

	CreateRate  float64 // links a second that it may create; 0 = the service's rate
	CreateBurst int     // links that it may create at once; 0 = the service's burst

	CreatedAt time.Time
	RevokedAt time.Time // zero = valid
}

const (
	keyPrefix    = "wp_"
	keyIDLength  = 12
	secretLength = 43 // base62 characters: 256 bits
)

// NewKeyText draws a key as its holder presents it.
func NewKeyText() string {
	return keyPrefix + randomText(keyIDLength) + "_" + randomText(secretLength)
}

// newAPIKey returns what is kept of a key that is not confined.
func newAPIKey(id, secret string, scopes []string, now time.Time) APIKey {
	return APIKey{
		ID: id, Hash: sha256.Sum256([]byte(secret)), Scopes: scopes, CreatedAt: now.UTC().Truncate(time.Microsecond),
	}
}

// parseKeyText cuts a presented key into its parts; ok is false for what no key
// looks like, so that noise costs no look at the store.
func parseKeyText(text string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, keyPrefix)
	if !ok {
		return "", "", false
	}
	id, secret, ok = strings.Cut(rest, "_")
	ok = ok && isKeyID(id) && len(secret) == secretLength && isBase62(secret)
	return id, secret, ok
}

func isKeyID(id string) bool { return len(id) == keyIDLength && isBase62(id) }

// matches compares in constant time. The secret has 256 random bits, so one
// round of a fast hash is enough: there is nothing to guess.
func (k *APIKey) matches(secret string) bool {
	hash := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(hash[:], k.Hash[:]) == 1
}

// Allows reports whether the key has the scope.
func (k *APIKey) Allows(scope string) bool {
	return slices.Contains(k.Scopes, scope) || k.Admin()
}

// Admin reports whether the key may do everything.
func (k *APIKey) Admin() bool { return slices.Contains(k.Scopes, ScopeAdmin) }

// Caller is whom the key acts for.
func (k *APIKey) Caller() Caller { return Caller{Owner: k.Owner, Admin: k.Admin(), Key: k.ID} }

const base62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// randomText returns n characters, each of the 62 equally likely.
func randomText(n int) string {
	text := make([]byte, 0, n)
	buf := make([]byte, 2*n)
	for {
		_, _ = rand.Read(buf) // never fails
		for _, b := range buf {
			if b >= 4*62 {
				continue // would favour the first characters
			}
			if text = append(text, base62[b%62]); len(text) == n {
				return string(text)
			}
		}
	}
}

func isBase62(s string) bool {
	return strings.Trim(s, base62) == ""
}
