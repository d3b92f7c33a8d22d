package codes_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"waypost/origin/internal/codes"
	"waypost/shared/link"
)

func TestBase62(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint64]string{
		0: "0", 9: "9", 10: "a", 35: "z", 36: "A", 61: "Z", 62: "10", 100_001: "q0V", 62*62 - 1: "ZZ",
		math.MaxUint64: "lYGhA16ahyf",
	} {
		if got := codes.Base62(n); got != want {
			t.Errorf("Base62(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestRandomCodesUseTheWholeAlphabetEvenly(t *testing.T) {
	t.Parallel()
	const n = 62 * 1000
	var random codes.Random
	seen := make(map[rune]int)
	for range n {
		code, err := random.Next(t.Context())
		if err != nil || len(code) != 7 {
			t.Fatalf("Next = %q, %v, want 7 characters", code, err)
		}
		for _, c := range code {
			seen[c]++
		}
	}
	// Each character is drawn 7,000 times with a standard deviation of 83; folding
	// 62 and 63 back would give two of them 13,600.
	if len(seen) != 62 {
		t.Errorf("%d characters, want 62", len(seen))
	}
	for c, count := range seen {
		if count < 6300 || count > 7700 || !strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c) {
			t.Errorf("character %q came %d times, want about 7,000", c, count)
		}
	}
}

// numbers is a sequence of the given numbers, then an error.
type numbers []uint64

var errNumbers = errors.New("no more numbers")

func (n *numbers) NextCounter(context.Context) (uint64, error) {
	if len(*n) == 0 {
		return 0, errNumbers
	}
	next := (*n)[0]
	*n = (*n)[1:]
	return next, nil
}

func TestCounterCodesPassOverReservedWords(t *testing.T) {
	t.Parallel()
	api := uint64(10*62*62 + 25*62 + 18)
	if got := codes.Base62(api); got != "api" || !link.Reserved(got) {
		t.Fatalf("Base62(%d) = %q, want the reserved word api", api, got)
	}
	c := codes.New(nil, codes.NewCounter(&numbers{api, api + 1}))
	if got, err := c.Next(t.Context(), "counter"); err != nil || got != "apj" {
		t.Errorf("Next = %q, %v, want apj", got, err)
	}
	if _, err := c.Next(t.Context(), "counter"); !errors.Is(err, errNumbers) {
		t.Errorf("Next without numbers: %v, want %v", err, errNumbers)
	}
}

func TestOnlyReservedWordsIsAnErrorNotALoop(t *testing.T) {
	t.Parallel()
	api := uint64(10*62*62 + 25*62 + 18)
	stuck := make(numbers, 1000)
	for i := range stuck {
		stuck[i] = api
	}
	c := codes.New(nil, codes.NewCounter(&stuck))
	if got, err := c.Next(t.Context(), "counter"); err == nil {
		t.Errorf("Next = %q, want an error", got)
	}
}

func TestAnUnknownKindIsRefused(t *testing.T) {
	t.Parallel()
	c := codes.New(nil, nil)
	if got, err := c.Next(t.Context(), "uuid"); err == nil {
		t.Errorf("Next = %q, want an error", got)
	}
	if got, err := c.Next(t.Context(), "random"); err != nil || len(got) != 7 {
		t.Errorf("Next = %q, %v, want 7 characters", got, err)
	}
}
