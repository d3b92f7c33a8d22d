package contract

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// oneOfTwentyChanges: of twenty changes of one version, at two origins at once, one is made and nineteen are refused.
func (s *stage) oneOfTwentyChanges(t *testing.T) {
	const changes = 20
	o := s.newOwner(t)
	l := o.link()
	answers := make([]answer, changes)
	errs := make([]error, changes)
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range changes {
		all.Go(func() {
			<-begin
			answers[i], errs[i] = s.try(t.Context(), request{
				method: http.MethodPatch, path: "/links/" + l.code, body: fmt.Sprintf(`{"title": "change %d"}`, i),
				header: map[string]string{"If-Match": l.etag}, key: o.key, origin: i % 2,
			})
		})
	}
	close(begin)
	all.Wait()
	made := -1
	for i, a := range answers {
		switch {
		case errs[i] != nil:
			t.Errorf("change %d: %v", i, errs[i])
		case a.status == http.StatusOK && made < 0:
			made = i
		case a.status != http.StatusPreconditionFailed:
			t.Errorf("change %d: status %d, want 412, or 200 for one of all: %s", i, a.status, a.body)
		}
	}
	if made < 0 {
		t.Fatal("none of the changes was made")
	}
	now := s.do(t, request{method: http.MethodGet, path: "/links/" + l.code})
	if got, want := now.text("title"), fmt.Sprintf("change %d", made); got != want {
		t.Errorf("the title is %q, want %q, of the change that was made", got, want)
	}
	if got, want := now.header.Get("ETag"), answers[made].header.Get("ETag"); got != want || got == l.etag {
		t.Errorf("the ETag is %s, want %s, of the change that was made", got, want)
	}
}
