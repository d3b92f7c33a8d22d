package contract

import (
	"fmt"
	"net/http"

	"waypost/bench/fleet"
)

// clicked is a link that was followed, which its statistics show.
func (o *owner) clicked() link {
	o.t.Helper()
	l := o.link()
	edge := o.stage.fleet.Edges[0]
	followed, err := o.stage.client.Get("http://" + edge.Addr + "/" + l.code)
	if err != nil {
		o.t.Fatal(err)
	}
	if err := followed.Body.Close(); err != nil || followed.StatusCode != http.StatusFound {
		o.t.Fatalf("follow %s: status %d, %v", l.code, followed.StatusCode, err)
	}
	fleet.Await(o.t, "the click is counted", func() error {
		a := o.stage.do(o.t, request{method: http.MethodGet, path: "/links/" + l.code + "/clicks"})
		if a.status != http.StatusOK || len(a.body) < len(`[{}]`) {
			return fmt.Errorf("status %d: %s", a.status, a.body)
		}
		return nil
	})
	return l
}
