package main

import (
	"fmt"
	"testing"
)

func TestStacksWhoseShiftsAreFarEnoughApartShareNoPort(t *testing.T) {
	t.Parallel()
	var least, most, beyond int
	if _, err := fmt.Sscanf(shiftsApart(), "%d to %d or at least %d", &least, &most, &beyond); err != nil || least > most || most > beyond {
		t.Fatalf("shiftsApart = %q, %v", shiftsApart(), err)
	}
	shared := func(shift int) bool {
		a, err := newPorts(0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newPorts(shift)
		if err != nil {
			t.Fatal(err)
		}
		taken := make(map[int]bool)
		for _, c := range a.claims() {
			taken[c.port] = true
		}
		for _, c := range b.claims() {
			if taken[c.port] {
				return true
			}
		}
		return false
	}
	for shift := 1; shift < 2*beyond; shift++ {
		stated := shift >= least && shift <= most || shift >= beyond
		if stated && shared(shift) {
			t.Errorf("shift %d shares a port, want none by %q", shift, shiftsApart())
		}
	}
	for _, shift := range []int{least - 1, most + 1, beyond - 1} {
		if !shared(shift) {
			t.Errorf("shift %d shares no port; %q is too narrow", shift, shiftsApart())
		}
	}
}
