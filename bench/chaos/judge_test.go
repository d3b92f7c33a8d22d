package chaos

import "testing"

// judge fails the test with every violation, and with the history of the first few keys. C5 is judged in the long
// version only.
func (w *world) judge() {
	w.t.Helper()
	sum := w.h.Sum()
	w.t.Log(sum)
	if sum.Reads == 0 || sum.Keys == 0 {
		w.t.Error("nothing was read or written")
	}
	violations := map[string]int{}
	for _, v := range Check(w.h, bound) {
		violations[v.Check]++
		switch n := violations[v.Check]; {
		case v.Check == C5 && testing.Short():
			// The tests of other packages run beside this one: who starves every process of the fleet is not known.
			w.t.Log(v)
			delete(violations, C5)
		case n <= 2 && v.Key != "":
			w.t.Errorf("%s\n%s", v, w.h.Print(v))
		case n <= 10:
			w.t.Error(v)
		}
	}
	for check, n := range violations {
		w.t.Errorf("%s: %d violations", check, n)
		w.result.Violations[check] += n
	}
	w.result.Sum = w.result.Sum.plus(sum)
	w.result.Seconds += w.h.Now().Seconds()
}
