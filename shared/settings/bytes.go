package settings

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Bytes is a size in bytes, never negative when parsed.
type Bytes int64

var errBytes = errors.New("is not a size such as 65536, 64KiB or 64MB")

// ParseBytes reads a whole number with an optional unit in any case: B, KB,
// MB, GB, TB are powers of 1000, KiB, MiB, GiB, TiB powers of 1024.
func ParseBytes(s string) (Bytes, error) {
	digits := strings.TrimLeft(s, "0123456789")
	n, err := strconv.ParseInt(s[:len(s)-len(digits)], 10, 64)
	if err != nil {
		return 0, errBytes
	}
	unit, ok := bytesPer(strings.ToLower(strings.TrimLeft(digits, " ")))
	if !ok || n > math.MaxInt64/unit {
		return 0, errBytes
	}
	return Bytes(n * unit), nil
}

// String is the size in the largest unit of 1024 that divides it; ParseBytes
// reads it back.
func (b Bytes) String() string {
	for _, u := range []struct {
		name string
		size Bytes
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if b != 0 && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// UnmarshalText is ParseBytes.
func (b *Bytes) UnmarshalText(text []byte) error {
	n, err := ParseBytes(string(text))
	if err != nil {
		return err
	}
	*b = n
	return nil
}

func bytesPer(unit string) (size int64, ok bool) {
	switch unit {
	case "", "b":
		return 1, true
	case "kb":
		return 1e3, true
	case "mb":
		return 1e6, true
	case "gb":
		return 1e9, true
	case "tb":
		return 1e12, true
	case "kib":
		return 1 << 10, true
	case "mib":
		return 1 << 20, true
	case "gib":
		return 1 << 30, true
	case "tib":
		return 1 << 40, true
	}
	return 0, false
}
