package clicks

import (
	"fmt"

	"waypost/bench/fleet"
)

// warm asks for every link, and is an error until all answers come from the edge's memory. What L1 was offered it may
// not take.
func warm(conn *fleet.Conn, links []fleet.Link) error {
	cold := 0
	for _, l := range links {
		r, err := conn.Ask(fleet.Request{Method: "HEAD", Path: l.Path()}) // no click
		if err != nil {
			return err
		}
		if r.Tier() != "l1" {
			cold++
		}
	}
	if cold > 0 {
		return fmt.Errorf("%d are not", cold)
	}
	return nil
}
