package limit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// shared is the buckets in the origins' Redis. Safe for concurrent use.
type shared struct {
	client  redis.UniversalClient
	script  *redis.Script
	prefix  string
	timeout time.Duration
}

// take is one round trip, or two where Redis does not know the script yet, and
// ends within the timeout.
func (s *shared) take(ctx context.Context, key string, b bucket, asked int64) (given, left int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	answer, err := s.script.Run(ctx, s.client, []string{s.name(key)}, b.interval, b.depth, asked).Int64Slice()
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("bucket of key %s: %w", key, err)
	case len(answer) != 2:
		return 0, 0, fmt.Errorf("bucket of key %s: %d values, want 2", key, len(answer))
	}
	return answer[0], answer[1], nil
}

// name is where the bucket of an API key is. The tag in braces spreads them over
// the slots of a cluster; the hash keeps ids of keys out of what Redis logs.
func (s *shared) name(key string) string {
	hash := sha256.Sum256([]byte(key))
	return s.prefix + ":{k" + hex.EncodeToString(hash[:8]) + "}:create"
}
