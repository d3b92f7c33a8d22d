package postgres_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"waypost/deploy/services"
	"waypost/origin/internal/codes"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/link"
)

// callOf is the first item of a call that asks for something.
func callOf(name, request string) links.Once {
	var digest [32]byte
	copy(digest[:], request)
	return links.Caller{Key: "k"}.Once(name, digest)
}

// once lets a mutation succeed once.
func once(m links.Mutation, o *links.Once) links.Mutation {
	m.Once = o
	return m
}

// random makes a link under a random code.
func random(l *link.Link) links.Mutation {
	var source codes.Random
	m := create(link.Key{}, l)
	m.Generate = source.Next
	return m
}

func TestParallelCallsOfOneNameMakeOneLink(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	stores := []*postgres.Store{openStore(t, url), openStore(t, url)}
	call := callOf("n", "r")
	results := make([]links.Result, 20)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			res, err := stores[i%2].Write(t.Context(), []links.Mutation{once(random(content("https://a.example/")), &call)})
			if err != nil {
				t.Errorf("Write: %v", err)
				return
			}
			results[i] = res[0]
		})
	}
	wg.Wait()
	made := 0
	for _, r := range results {
		if r.Err != nil || !reflect.DeepEqual(r.Link, results[0].Link) || r.Reused || r.Replayed == (r.Change != nil) {
			t.Errorf("got %+v, want the link %+v", r, results[0].Link)
		}
		if !r.Replayed {
			made++
		}
	}
	if n := count(t, url, "links"); made != 1 || n != 1 {
		t.Errorf("%d made it and %d links are there, want one", made, n)
	}
}

func TestAnAnswerStaysWhateverIsDoneSince(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	call := callOf("n", "r")
	l := content("https://a.example/?a=1&b=<2>")
	l.Owner, l.Title, l.Tags, l.Class, l.MaxClicks = "ann", "Tï", []string{"b", "a"}, link.Strict, 3
	made := mustWrite(t, s, once(random(l), &call)).Link
	mustWrite(t, s, update(made.Key, func(l *link.Link) { l.Title = "changed" }))
	mustWrite(t, s, remove(made.Key))
	again := mustWrite(t, s, once(random(content("https://other.example/")), &call))
	if !again.Replayed || again.Change != nil || !reflect.DeepEqual(again.Link, made) {
		t.Errorf("Write = %+v, want it answered with\n%+v", again, made)
	}
	answered, err := s.Answered(t.Context(), []links.Once{call, *call.At(1), callOf("m", "r")})
	if err != nil || !reflect.DeepEqual(answered, []links.Result{{Link: made, Replayed: true, Epoch: 1}, {}, {}}) {
		t.Errorf("Answered = %+v, %v, want the first only", answered, err)
	}
}

// Edges acknowledge positions of the epoch of now, whatever the answer says.
func TestAnAnswerOfAnOlderEpochIsFoundInThatOfNow(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	call := callOf("n", "r")
	made := mustWrite(t, s, once(random(content("https://a.example/")), &call)).Link
	if n, err := s.BumpEpoch(t.Context()); n != 2 || err != nil {
		t.Fatalf("BumpEpoch = %d, %v, want 2", n, err)
	}
	answered, err := s.Answered(t.Context(), []links.Once{call})
	if err != nil {
		t.Fatalf("Answered: %v", err)
	}
	again := mustWrite(t, s, once(random(content("https://a.example/")), &call))
	for how, r := range map[string]links.Result{"Answered": answered[0], "Write": again} {
		if !reflect.DeepEqual(r.Link, made) || made.Epoch != 1 || r.Epoch != 2 {
			t.Errorf("%s = %+v, want %+v, in epoch 2", how, r, made)
		}
	}
}

func TestAnotherRequestOfTheSameCallIsRefused(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	call, other := callOf("n", "r"), callOf("n", "other")
	mustWrite(t, s, once(random(content("https://a.example/")), call.At(3)))
	// Whichever item it is: the call is spent.
	for _, item := range []int{0, 3} {
		if r := write(t, s, once(random(content("https://b.example/")), other.At(item))); !errors.Is(r.Err, links.ErrOtherRequest) || r.Change != nil {
			t.Errorf("item %d: %+v, want ErrOtherRequest", item, r)
		}
	}
	if r, err := s.Answered(t.Context(), []links.Once{other}); err != nil || !errors.Is(r[0].Err, links.ErrOtherRequest) {
		t.Errorf("Answered = %+v, %v, want ErrOtherRequest", r, err)
	}
}

func TestACallThatFailsIsNotRemembered(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "taken"}
	mustWrite(t, s, create(key, content("https://a.example/")))
	call := callOf("n", "r")
	m := once(create(key, content("https://b.example/")), &call)
	for range 2 {
		if r := write(t, s, m); !errors.Is(r.Err, link.ErrTaken) {
			t.Fatalf("Write: %v, want ErrTaken", r.Err)
		}
	}
	mustWrite(t, s, remove(key))
	if r := mustWrite(t, s, m); r.Replayed || r.Link.Target != "https://b.example/" {
		t.Errorf("got %+v, want it made now", r)
	}
	if r := mustWrite(t, s, m); !r.Replayed {
		t.Errorf("got %+v, want it answered now", r)
	}
}

func TestAReusedLinkIsRememberedAsReused(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	reuse := func(call links.Once) links.Mutation {
		m := once(random(content("https://a.example/")), &call)
		m.Reuse = true
		return m
	}
	first := mustWrite(t, s, reuse(callOf("first", "r")))
	found := mustWrite(t, s, reuse(callOf("second", "r")))
	if first.Reused || !found.Reused || found.Replayed {
		t.Fatalf("got %+v and %+v, want the second to reuse the first", first, found)
	}
	mustWrite(t, s, remove(first.Link.Key))
	if again := mustWrite(t, s, reuse(callOf("second", "r"))); !again.Replayed || !again.Reused || again.Link.Key != first.Link.Key {
		t.Errorf("got %+v, want the second call's answer", again)
	}
}

// Half of the items are there, as after an origin was killed between two groups.
func TestTheRestOfAHalfDoneCallIsDone(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	const items = 200
	call := callOf("bulk", "r")
	all := func() []links.Mutation {
		ms := make([]links.Mutation, items)
		for i := range ms {
			ms[i] = once(random(content("https://a.example/"+strconv.Itoa(i))), call.At(i))
		}
		return ms
	}
	half, err := s.Write(t.Context(), all()[:items/2])
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	whole, err := s.Write(t.Context(), all())
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	for i, r := range whole {
		if r.Err != nil || r.Replayed != (i < items/2) || r.Link.Target != fmt.Sprintf("https://a.example/%d", i) {
			t.Errorf("item %d: %+v", i, r)
		}
		if i < items/2 && !reflect.DeepEqual(r.Link, half[i].Link) {
			t.Errorf("item %d is %+v, was %+v", i, r.Link, half[i].Link)
		}
	}
	if n := count(t, url, "links"); n != items {
		t.Errorf("%d links, want %d", n, items)
	}
}

func TestAnswersAreKeptForADay(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	for i, age := range []string{"23 hours", "25 hours"} {
		call := callOf(age, "r")
		mustWrite(t, s, once(create(link.Key{Code: strconv.Itoa(i)}, content("https://a.example/")), &call))
		exec(t, url, `UPDATE once SET at = clock_timestamp() - $1::interval WHERE at > clock_timestamp() - interval '1 hour'`, age)
	}
	if err := s.Prune(t.Context()); err != nil {
		t.Fatalf("Prune: %v", err)
	}
	r, err := s.Answered(t.Context(), []links.Once{callOf("23 hours", "r"), callOf("25 hours", "r")})
	if err != nil || !r[0].Replayed || r[1].Replayed {
		t.Errorf("Answered = %+v, %v, want the younger one", r, err)
	}
}
