package links_test

import (
	"errors"
	"testing"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

func TestMaxClicksIsSetRaisedAndTakenOff(t *testing.T) {
	t.Parallel()
	f := newFixture()
	in := aliased("x")
	in.MaxClicks = links.Value(int64(1))
	made, err := f.Create(t.Context(), links.Caller{}, in, links.AckEdges)
	if err != nil || made.Link.MaxClicks != 1 {
		t.Fatalf("Create: %+v, %v, want max_clicks 1", made.Link, err)
	}
	for _, tt := range []struct {
		change links.Field[int64]
		want   int64
	}{
		{links.Value(int64(1 << 40)), 1 << 40}, {links.Field[int64]{}, 1 << 40}, {links.Field[int64]{Set: true}, 0}, {links.Value(int64(2)), 2},
	} {
		written, err := f.Patch(t.Context(), links.Caller{}, link.Key{Code: "x"}, &links.Input{MaxClicks: tt.change}, nil, links.AckEdges)
		if err != nil || written.Link.MaxClicks != tt.want {
			t.Errorf("Patch: max_clicks %d, %v, want %d", written.Link.MaxClicks, err, tt.want)
		}
	}
	for _, refused := range []int64{0, -1} {
		in := to("https://example.com/")
		in.MaxClicks = links.Value(refused)
		_, err := f.Create(t.Context(), links.Caller{}, in, links.AckEdges)
		invalid, ok := errors.AsType[*link.InvalidError](err)
		if !ok || len(invalid.Fields) != 1 || invalid.Fields[0].Field != "max_clicks" {
			t.Errorf("max_clicks %d: %v, want a fault of max_clicks", refused, err)
		}
	}
}
