package codes

import (
	"context"
	"errors"
	"fmt"

	"waypost/shared/link"
)

// The kinds of codes, as the API names them.
const (
	kindRandom    = "random"
	kindSnowflake = "snowflake"
	kindCounter   = "counter"
)

// maxReserved is how many reserved words in a row are passed over. No two of
// them are neighbours in any generator's order.
const maxReserved = 8

var errReserved = errors.New("only reserved words were generated")

// Codes makes codes of every kind. It is safe for concurrent use.
type Codes struct {
	random    Random
	snowflake *Snowflake
	counter   *Counter
}

// New returns Codes over these generators.
func New(snowflake *Snowflake, counter *Counter) *Codes {
	return &Codes{snowflake: snowflake, counter: counter}
}

// Next makes a code of a kind: random, snowflake or counter. It is never a
// reserved word. It may be an alias of somebody: whoever writes it finds out,
// and asks again. The error may be link.ErrUnavailable.
func (c *Codes) Next(ctx context.Context, kind string) (string, error) {
	switch kind {
	case kindRandom:
		return unreserved(ctx, c.random.Next)
	case kindSnowflake:
		return unreserved(ctx, c.snowflake.Next)
	case kindCounter:
		return unreserved(ctx, c.counter.Next)
	}
	return "", fmt.Errorf("codes: unknown kind %q", kind)
}

func unreserved(ctx context.Context, next func(context.Context) (string, error)) (string, error) {
	for range maxReserved {
		code, err := next(ctx)
		if err != nil || !link.Reserved(code) {
			return code, err
		}
	}
	return "", errReserved
}
