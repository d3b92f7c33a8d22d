package visitor

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/dchest/siphash"
)

func TestASipIsSipHash(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for words := range 32 {
		first, second := random.Uint64(), random.Uint64()
		s, text := newSip(first, second), []byte(nil)
		for range words {
			word := random.Uint64()
			s, text = s.take(word), binary.LittleEndian.AppendUint64(text, word)
		}
		if got, want := s.sum(words), siphash.Hash(first, second, text); got != want {
			t.Errorf("%d words: got %x, want %x", words, got, want)
		}
	}
}
