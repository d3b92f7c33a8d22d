package codes

import (
	"context"
	"fmt"
)

// sequence gives numbers that never come twice.
type sequence interface {
	NextCounter(ctx context.Context) (uint64, error)
}

// Counter makes the shortest codes: a sequence in base 62.
type Counter struct{ numbers sequence }

// NewCounter returns a Counter over numbers.
func NewCounter(numbers sequence) *Counter { return &Counter{numbers: numbers} }

// Next returns the next number of the sequence in base 62.
func (c *Counter) Next(ctx context.Context) (string, error) {
	n, err := c.numbers.NextCounter(ctx)
	if err != nil {
		return "", fmt.Errorf("counter code: %w", err)
	}
	return Base62(n), nil
}
