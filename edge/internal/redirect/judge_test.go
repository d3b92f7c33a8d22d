package redirect

import (
	"testing"

	"waypost/shared/feed"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	const now = 1000
	for _, c := range []struct {
		name string
		body feed.Body
		want Verdict
	}{
		{"absent", feed.Body{State: feed.Absent}, Unknown},
		{"live", feed.Body{State: feed.Enabled}, Live},
		{"disabled", feed.Body{State: feed.Disabled}, Gone},
		{"disabled and expired, with a page", feed.Body{State: feed.Disabled, ExpiresAt: 1, ExpiredURL: "x"}, Gone},
		{"starts later", feed.Body{State: feed.Enabled, StartsAt: now + 1}, Unknown},
		{"starts now", feed.Body{State: feed.Enabled, StartsAt: now}, Live},
		{"expires later", feed.Body{State: feed.Enabled, ExpiresAt: now + 1}, Live},
		{"expires now", feed.Body{State: feed.Enabled, ExpiresAt: now}, Ended},
		{"expired, with a page", feed.Body{State: feed.Enabled, ExpiresAt: 1, ExpiredURL: "x"}, Moved},
	} {
		if got := Judge(&feed.Entry{Body: c.body}, now); got != c.want {
			t.Errorf("%s: got verdict %d, want %d", c.name, got, c.want)
		}
	}
}
