package codes

import (
	"context"
	"crypto/rand"
)

// randomLength gives 62^7, 3.5 × 10^12, codes: among a million links one new
// code in 3.5 million is taken.
const randomLength = 7

// Random makes codes that cannot be guessed from others. The zero value is
// ready.
type Random struct{}

// Next returns 7 characters, each drawn evenly from the alphabet. It never
// fails.
func (Random) Next(context.Context) (string, error) {
	var code, pool [randomLength]byte
	for n := 0; n < len(code); {
		rand.Read(pool[:]) // never fails: it ends the program instead
		for _, b := range pool {
			// Six bits, and no remainder: 62 and 63 are drawn again, because folding
			// them back would make two characters likelier than the rest.
			if b &= 63; int(b) < len(alphabet) && n < len(code) {
				code[n] = alphabet[b]
				n++
			}
		}
	}
	return string(code[:]), nil
}
