package clicks

import (
	"hash/maphash"

	"waypost/shared/click"
)

// word stands for a string in the words that it was taken from.
type word uint32

// recentWords is how many words are found without the map, a power of two.
const recentWords = 256

// words numbers the strings of records, so that clicks with few values are counted
// by numbers, and a stretch of many makes few strings. Not safe for concurrent use.
type words struct {
	seed   maphash.Seed // nobody can choose strings that share a place in recent
	recent [recentWords]word
	known  map[string]word
	texts  []string // by word
	bytes  int      // of all of them
}

// newWords has "" for word 0, which is what recent is full of.
func newWords() words {
	return words{seed: maphash.MakeSeed(), known: map[string]word{"": 0}, texts: []string{""}}
}

// of is the word of what a record says, of bytes that are not kept.
func (w *words) of(b []byte) word {
	if len(b) == 0 {
		return 0
	}
	last := &w.recent[maphash.Bytes(w.seed, b)%recentWords]
	if w.texts[*last] != string(b) {
		*last = w.find(b)
	}
	return *last
}

func (w *words) find(b []byte) word {
	if known, ok := w.known[string(b)]; ok {
		return known
	}
	text := click.Word(b)
	known, ok := w.known[text]
	if !ok {
		known = word(len(w.texts)) //nolint:gosec // fewer than a stretch has bytes
		w.known[text] = known
		w.texts = append(w.texts, text)
		w.bytes += len(text)
	}
	return known
}

func (w *words) text(of word) string { return w.texts[of] }

func (w *words) reset() {
	w.recent = [recentWords]word{}
	clear(w.known)
	w.known[""] = 0
	w.texts = w.texts[:1]
	w.bytes = 0
}
