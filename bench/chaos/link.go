package chaos

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"waypost/bench/fleet"
)

// target is where the link of a key leads in a version.
func target(key string, version int) string { return targets(key) + strconv.Itoa(version) }

func targets(key string) string { return "https://example.com/" + key + "/" }

// versionOf reads a target; alien if target did not make it for this key.
func versionOf(key, location string) int {
	rest, ours := strings.CutPrefix(location, targets(key))
	n, err := strconv.Atoi(rest)
	if !ours || err != nil || n <= 0 {
		return alien
	}
	return n
}

// past is a time at which a link has expired for long.
const past = "2020-01-01T00:00:00Z"

// state is what a link is, by its last write.
type state struct {
	n     int    // of that write
	etag  string // "" where there is no link
	shows Sight
}

// step is a write that may come next. Every one but a deletion gives the link the target of its number.
type step struct {
	kind   string
	method string
	fields fleet.Fields
	shows  Sight
}

// update gives a link another target.
func update(key string, n int) step {
	return step{"update", http.MethodPatch, fleet.Fields{"target": target(key, n)}, Sight{http.StatusFound, n}}
}

// next draws what happens to a link. A link that leads nowhere is mostly brought back.
func (s state) next(random *rand.Rand, key string, n int, class string) step {
	to := target(key, n)
	leads, gone := Sight{http.StatusFound, n}, Sight{Status: http.StatusGone}
	if s.etag == "" {
		return step{"create", http.MethodPost, fleet.Fields{"alias": key, "target": to, "class": class}, leads}
	}
	remove := step{"delete", http.MethodDelete, nil, absent()}
	draw := random.IntN(100)
	if s.shows.Status == http.StatusGone {
		switch {
		case draw < 70:
			return step{"enable", http.MethodPatch, fleet.Fields{"target": to, "enabled": true, "expires_at": nil}, leads}
		case draw < 85:
			return step{"update", http.MethodPatch, fleet.Fields{"target": to}, gone}
		default:
			return remove
		}
	}
	switch {
	case draw < 70:
		return update(key, n)
	case draw < 80:
		return step{"disable", http.MethodPatch, fleet.Fields{"target": to, "enabled": false}, gone}
	case draw < 90:
		return step{"expire", http.MethodPatch, fleet.Fields{"target": to, "expires_at": past}, gone}
	default:
		return remove
	}
}
