package visitor

import (
	"strconv"
	"sync"
	"testing"
)

func TestAMemoAnswersEveryKeyAndForgetsSome(t *testing.T) {
	t.Parallel()
	made := 0
	m := newMemo(64, func(key string) string {
		made++
		return "<" + key + ">"
	})
	const keys = 1000
	for range 2 {
		for i := range keys {
			key := strconv.Itoa(i)
			if got := m.get([]byte(key)); got != "<"+key+">" {
				t.Fatalf("got %s for %s", got, key)
			}
		}
	}
	if made < 2*keys-64 {
		t.Errorf("made %d values for %d keys asked twice, want all but the 64 that fit", made, keys)
	}
	made = 0
	for range 100 {
		m.get([]byte("busy"))
	}
	if made > 1 {
		t.Errorf("made the value of one key %d times", made)
	}
}

// That some of them do not fit beside each other is a chance of 1 in 180,000.
func TestAThousandAgentsPushNoneOut(t *testing.T) {
	t.Parallel()
	made := 0
	m := newMemo(agentsHeld, func(string) struct{} {
		made++
		return struct{}{}
	})
	const agents = 1000
	for range 2 {
		for i := range agents {
			m.get([]byte(strconv.Itoa(i)))
		}
	}
	if made != agents {
		t.Errorf("made %d values for %d agents asked twice, want one each", made, agents)
	}
}

func TestAMemoDoesNotKeepTheBytesItIsAskedWith(t *testing.T) {
	t.Parallel()
	m := newMemo(64, func(key string) string { return key })
	buffer := []byte("first")
	got := m.get(buffer)
	copy(buffer, "other")
	if got != "first" || m.get([]byte("first")) != "first" {
		t.Errorf("got %q, which the caller's buffer has changed", got)
	}
}

func TestAMemoIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	m := newMemo(ways, func(key string) string { return key })
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 1000 {
				key := strconv.Itoa((i * (g + 1)) % 7)
				if got := m.get([]byte(key)); got != key {
					t.Errorf("got %s, want %s", got, key)
				}
			}
		})
	}
	all.Wait()
}
