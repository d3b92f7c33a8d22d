package stampede

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"waypost/shared/dial"
)

// Contexts set the near limits of a command. These are the far ones, for
// callers whose contexts set none, and for a dial, which goes on for the next
// caller when the one that began it gave up.
const (
	dialTimeout = time.Second
	ioTimeout   = 5 * time.Second
	noRetries   = -1 // the client's own defaults multiply every timeout
	resp2       = 2  // without what a server may say unasked, for which the client looks before every answer
)

// errURL does without the parser's reason, which quotes the URL and with it the
// password.
var errURL = errors.New("redis URL: not a URL")

// Connect makes a client that tries each command once and keeps to the
// deadline of its context. rawURL is redis:// or rediss://; with &addr= for
// further nodes it is a cluster's. It does not wait for Redis and fails only on
// the URL. The caller closes the client after the Loader.
func Connect(rawURL string) (redis.UniversalClient, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errURL
	}
	if u.Query().Has("addr") {
		o, err := redis.ParseClusterURL(rawURL)
		if err != nil {
			return nil, fmt.Errorf("redis URL: %w", err)
		}
		o.ContextTimeoutEnabled = true
		o.DialTimeout, o.DialerRetries = dialTimeout, 1
		o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = ioTimeout, ioTimeout, ioTimeout
		o.MaxRetries, o.Protocol = noRetries, resp2 // a cluster client still follows redirections
		o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		o.Dialer = dial.Sparing(redis.NewDialer(&redis.Options{DialTimeout: o.DialTimeout, TLSConfig: o.TLSConfig}))
		return redis.NewClusterClient(o), nil
	}
	o, err := redis.ParseURL(rawURL)
	if err != nil {
		return nil, fmt.Errorf("redis URL: %w", err)
	}
	o.ContextTimeoutEnabled = true
	o.DialTimeout, o.DialerRetries = dialTimeout, 1
	o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = ioTimeout, ioTimeout, ioTimeout
	o.MaxRetries, o.Protocol = noRetries, resp2
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.Dialer = dial.Sparing(redis.NewDialer(o))
	return redis.NewClient(o), nil
}
