package clicks

import (
	"fmt"
	"testing"

	"waypost/shared/click"
)

func TestEqualBytesAreOneWord(t *testing.T) {
	t.Parallel()
	w := newWords()
	for round := range 3 { // the last one after a reset
		if round == 2 {
			w.reset()
		}
		bytes := 0
		seen := map[word]string{0: ""}
		for range 2 {
			for n := range 3 * recentWords {
				text := fmt.Sprintf("%d.example", n)
				got := w.of([]byte(text))
				if before, ok := seen[got]; ok && before != text {
					t.Fatalf("%q and %q are one word", before, text)
				}
				if _, ok := seen[got]; !ok {
					bytes += len(text)
				}
				seen[got] = text
				if w.text(got) != text {
					t.Fatalf("got %q of the word for %q", w.text(got), text)
				}
			}
		}
		if len(seen) != 1+3*recentWords || w.bytes != bytes || len(w.known) != len(seen) {
			t.Errorf("got %d words of %d bytes, %d known, want %d of %d", len(seen), w.bytes, len(w.known), 1+3*recentWords, bytes)
		}
	}
}

func TestWordsKeepNothingOfTheBytes(t *testing.T) {
	t.Parallel()
	w := newWords()
	b := []byte("a.example")
	first := w.of(b)
	b[0] = 'b'
	if second := w.of(b); second == first || w.text(first) != "a.example" || w.text(second) != "b.example" {
		t.Errorf("got %q, then %q", w.text(first), w.text(second))
	}
}

func TestWhatIsNoTextIsOther(t *testing.T) {
	t.Parallel()
	w := newWords()
	other := w.of([]byte(click.Other))
	for _, b := range []string{"\xff", "a\x00b", "\x7f"} {
		for range 2 {
			if got := w.of([]byte(b)); got != other {
				t.Errorf("got %q for %q, want %q", w.text(got), b, click.Other)
			}
		}
	}
	if w.of(nil) != w.of([]byte{}) || w.text(w.of(nil)) != "" {
		t.Errorf("got %q for nothing", w.text(w.of(nil)))
	}
}
