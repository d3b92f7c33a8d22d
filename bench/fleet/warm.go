package fleet

import (
	"fmt"
	"net/http"
	"testing"
)

// AwaitL1 asks for links until the edge answers all of them from its memory; what that was offered it may not take. No
// click is counted.
func (e *Edge) AwaitL1(tb testing.TB, links []Link) {
	tb.Helper()
	conn := e.Dial(tb)
	Await(tb, e.Name+" has all links in L1", func() error {
		cold := 0
		for _, l := range links {
			r, err := conn.Ask(Request{Method: http.MethodHead, Path: l.Path()})
			if err != nil {
				tb.Fatalf("%s: %v", e.Name, err)
			}
			if r.Tier() != "l1" {
				cold++
			}
		}
		if cold > 0 {
			return fmt.Errorf("%d are not", cold)
		}
		return nil
	})
}
