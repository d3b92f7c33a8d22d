package qr

import (
	"errors"
	"fmt"

	goqr "github.com/piglig/go-qr"
)

// Level is how much of a code may be lost, to dirt or a logo, and the rest still
// tells all.
type Level byte

// The levels, with the share of the code that may be lost.
const (
	Low      Level = iota // 7 %
	Medium                // 15 %
	Quartile              // 25 %
	High                  // 30 %
)

// ParseLevel reads the letters by which the standard (ISO/IEC 18004) names levels.
func ParseLevel(letter string) (level Level, ok bool) {
	switch letter {
	case "L":
		return Low, true
	case "M":
		return Medium, true
	case "Q":
		return Quartile, true
	case "H":
		return High, true
	}
	return 0, false
}

// ErrTooSmall reports a picture that has no room for the code.
var ErrTooSmall = errors.New("the picture is too small for the code")

// Code is a text as a square of modules, each of them dark or light. It is
// immutable.
type Code struct{ symbol *goqr.QrCode }

// New returns the smallest code that holds the text, at the level or, where that
// takes no more modules, a higher one. The error is that of a text which is too
// long: 2,953 bytes fit at the lowest level, 1,273 at the highest.
func New(text string, level Level) (*Code, error) {
	symbol, err := goqr.EncodeText(text, correction(level))
	if err != nil {
		return nil, fmt.Errorf("qr: %w", err)
	}
	return &Code{symbol}, nil
}

func correction(level Level) goqr.Ecc {
	switch level {
	case Low:
		return goqr.Low
	case Quartile:
		return goqr.Quartile
	case High:
		return goqr.High
	default:
		return goqr.Medium
	}
}

// Modules is the length of a side in modules, without a margin.
func (c *Code) Modules() int { return c.symbol.Size() }

// dark reports whether there is a dark module at a place, which may be outside of
// the code.
func (c *Code) dark(x, y int) bool { return c.symbol.Module(x, y) }
