package clicks

// words hands out one string for equal bytes, so that a stretch of many clicks
// with few values makes few strings. Not safe for concurrent use.
type words struct {
	known map[string]string
	bytes int // of all strings
}

func newWords() words { return words{known: make(map[string]string)} }

func (w *words) text(b []byte) string {
	if s, ok := w.known[string(b)]; ok {
		return s
	}
	s := string(b)
	w.known[s] = s
	w.bytes += len(s)
	return s
}

func (w *words) reset() {
	clear(w.known)
	w.bytes = 0
}
