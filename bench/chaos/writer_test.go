package chaos

import (
	"net/http"
	"testing"
)

func TestWriterFindsOutWhatBecameOfAWrite(t *testing.T) {
	t.Parallel()
	gone := Sight{Status: http.StatusGone}
	linked := state{n: 1, etag: "v1", shows: live(1)}
	tests := []struct {
		name     string
		was      state
		open     []Sight // of the writes 2, 3, … that may have happened
		now      state
		want     state
		happened int // which write is known to have happened then; 0: none
		fails    bool
	}{
		{"it has happened", linked, []Sight{live(2)}, state{n: 2, etag: "v2"}, state{n: 2, etag: "v2", shows: live(2)}, 2, false},
		{"it has not happened", linked, []Sight{live(2)}, state{n: 1, etag: "v1"}, linked, 0, false},
		{"it disabled the link", linked, []Sight{gone}, state{n: 2, etag: "v2"}, state{n: 2, etag: "v2", shows: gone}, 2, false},
		{"it deleted the link", linked, []Sight{absent()}, state{shows: absent()}, state{n: 2, shows: absent()}, 2, false},
		{"it did not delete the link", linked, []Sight{absent()}, state{n: 1, etag: "v1"}, linked, 0, false},
		{"the first of two has happened", linked, []Sight{live(2), live(3)}, state{n: 2, etag: "v2"}, state{n: 2, etag: "v2", shows: live(2)}, 2, false},
		{"a creation has not happened", state{}, []Sight{live(2)}, state{shows: absent()}, state{}, 0, false},
		{"an acknowledged write is lost", linked, []Sight{live(2)}, state{n: 9, etag: "v0"}, linked, 0, true},
		{"the link is lost", linked, []Sight{live(2)}, state{shows: absent()}, linked, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := writer{history: NewHistory()}
			l := &written{key: "k", state: tt.was}
			for i, shows := range tt.open {
				l.open = append(l.open, w.history.Write(Write{Key: "k", N: i + 2, Shows: shows}))
			}
			settled, err := w.found(l, tt.now)
			if settled == tt.fails || (err != nil) != tt.fails {
				t.Errorf("settled %t, %v; want an error: %t", settled, err, tt.fails)
			}
			if l.state != tt.want {
				t.Errorf("state: got %+v, want %+v", l.state, tt.want)
			}
			for _, open := range l.open {
				if open.Known != (open.N == tt.happened) {
					t.Errorf("write %d is known: %t; want write %d to be", open.N, open.Known, tt.happened)
				}
			}
		})
	}
}
