package postgres

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// road is a lane whose transactions take a second each.
type road struct {
	lane
	groups   [][]string // codes of what was written together
	err      error      // of each transaction
	collide  string     // a code that is taken
	panicked bool
}

func (r *road) write(ctx context.Context, jobs []*job) (collided []*job, err error) {
	var codes []string
	for _, j := range jobs {
		codes = append(codes, j.key.Code)
		if j.key.Code == r.collide {
			collided = append(collided, j)
		}
	}
	r.groups = append(r.groups, codes)
	time.Sleep(time.Second)
	if r.panicked {
		panic("rules of a link")
	}
	return collided, errors.Join(r.err, ctx.Err())
}

// start has a job carried out for each code, which come in this order.
func (r *road) start(ctx context.Context, codes ...string) []verdict {
	verdicts := make([]verdict, len(codes))
	for i, code := range codes {
		go func() {
			defer func() { _ = recover() }()
			verdicts[i] = r.lane.write(ctx, &job{key: link.Key{Code: code}, m: &links.Mutation{}}, r.write)
		}()
		synctest.Wait()
	}
	return verdicts
}

// drive is start, and returns the verdicts once all are there.
func (r *road) drive(ctx context.Context, codes ...string) []verdict {
	verdicts := r.start(ctx, codes...)
	quiet()
	return verdicts
}

// quiet waits until nothing goes on any more.
func quiet() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

func TestWhatComesWhileALaneIsBusyIsWrittenTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &road{collide: "c"}
		got := r.drive(t.Context(), "a", "b", "c", "d")
		if want := [][]string{{"a"}, {"b", "c", "d"}}; !reflect.DeepEqual(r.groups, want) {
			t.Errorf("written together: %v, want %v", r.groups, want)
		}
		if want := []verdict{{}, {}, {collided: true}, {}}; !reflect.DeepEqual(got, want) {
			t.Errorf("verdicts %+v, want %+v", got, want)
		}
		r.drive(t.Context(), "e")
		if last := r.groups[len(r.groups)-1]; !reflect.DeepEqual(last, []string{"e"}) {
			t.Errorf("a lane that was left is not free: last written %v, want [e]", last)
		}
	})
}

func TestALaneWritesASmallNumberTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &road{}
		codes := make([]string, maxTogether+2)
		for i := range codes {
			codes[i] = strconv.Itoa(i)
		}
		r.drive(t.Context(), codes...)
		if want := [][]string{codes[:1], codes[1 : maxTogether+1], codes[maxTogether+1:]}; !reflect.DeepEqual(r.groups, want) {
			t.Errorf("written together: %v, want %v", r.groups, want)
		}
	})
}

func TestWhatIsAboutTheSameIsNotWrittenTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &road{}
		r.drive(t.Context(), "first", "a", "b", "a", "c", "a", "b")
		if want := [][]string{{"first"}, {"a", "b", "c"}, {"a", "b"}, {"a"}}; !reflect.DeepEqual(r.groups, want) {
			t.Errorf("written together: %v, want %v", r.groups, want)
		}
	})
}

func TestApartIsWhatIsAboutNothingThatWasMet(t *testing.T) {
	t.Parallel()
	keyed := func(code string) *job { return &job{key: link.Key{Code: code}, m: &links.Mutation{}} }
	reuse := func(code, target string) *job {
		j := keyed(code)
		j.reuse = &criteria{target: target}
		return j
	}
	once := func(code string, call byte, item int) *job {
		j := keyed(code)
		j.m.Once = &links.Once{Call: [32]byte{call}, Item: item}
		return j
	}
	tests := []struct {
		name string
		j    *job
		want bool
	}{
		{"a key", keyed("a"), true},
		{"another key", keyed("b"), true},
		{"a key again", keyed("a"), false},
		{"a link to reuse", reuse("c", "x"), true},
		{"another link to reuse", reuse("d", "y"), true},
		{"a link to reuse again", reuse("e", "x"), false},
		{"a call", once("f", 1, 0), true},
		{"another item of it", once("g", 1, 1), true},
		{"another call", once("h", 2, 0), true},
		{"an item again", once("i", 1, 0), false},
		{"a key of one that was not added", keyed("i"), true},
	}
	var met apart
	for _, tt := range tests {
		if got := met.add(tt.j); got != tt.want {
			t.Errorf("%s: added %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestAWaiterWhoseTimeEndsIsNotWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &road{}
		r.start(t.Context(), "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		got := r.drive(ctx, "b")
		if !errors.Is(got[0].err, link.ErrUnavailable) || len(r.groups) != 1 {
			t.Errorf("verdict %+v, written %v, want link.ErrUnavailable and only a", got[0], r.groups)
		}
	})
}

func TestAWaiterWhoseTurnHasComeHearsWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &road{}
		r.start(t.Context(), "a", "b")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second/2)
		defer cancel()
		got := r.drive(ctx, "c")
		if want := [][]string{{"a"}, {"b", "c"}}; got[0].err != nil || !reflect.DeepEqual(r.groups, want) {
			t.Errorf("verdict %+v, written %v, want none and %v", got[0], r.groups, want)
		}
	})
}

func TestTheFirstOfAGroupWritesItToTheEndWhenItsOwnTimeEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &road{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if got := r.drive(ctx, "a"); got[0].err != nil {
			t.Errorf("verdict %+v, want none", got[0])
		}
	})
}

func TestAPanicIsItsCallersAndTheOthersHearOfAFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &road{panicked: true}
		got := r.drive(t.Context(), "a", "b", "c")
		if !errors.Is(got[2].err, errNoVerdict) || got[2].alone {
			t.Errorf("verdict %+v, want errNoVerdict", got[2])
		}
		r.panicked = false
		if got := r.drive(t.Context(), "d"); got[0].err != nil || len(r.groups) != 3 {
			t.Errorf("verdict %+v, written %v, want the lane free again", got[0], r.groups)
		}
	})
}

func TestAGroupThatTheServerGaveUpIsWrittenOneByOne(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		err   error
		alone bool
	}{
		{"a lock that somebody else holds", &pgconn.PgError{Code: "55P03"}, true},
		{"a deadlock", &pgconn.PgError{Code: "40P01"}, true},
		{"a statement that took too long", &pgconn.PgError{Code: "57014"}, true},
		{"a server that stops", &pgconn.PgError{Code: "57P01"}, false},
		{"a connection that broke, perhaps after the commit", link.ErrUnavailable, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &road{err: tt.err}
				got := r.drive(t.Context(), "a", "b", "c")
				for i, want := range []bool{false, tt.alone, tt.alone} {
					if got[i].alone != want || !errors.Is(got[i].err, tt.err) {
						t.Errorf("verdict %d: %+v, want alone %v and %v", i, got[i], want, tt.err)
					}
				}
			})
		})
	}
}

func TestWhatWasDoneBeforeAGroupWasGivenUpIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	vain := &pgconn.PgError{Code: "55P03"}
	jobs := make([]*job, 3)
	group := make([]*waiter, len(jobs))
	for i := range jobs {
		jobs[i] = &job{key: link.Key{Code: strconv.Itoa(i)}, m: &links.Mutation{}, res: &links.Result{}}
		group[i] = &waiter{job: jobs[i], told: make(chan verdict, 1)}
	}
	first := carry(t.Context(), group, func(context.Context, []*job) ([]*job, error) {
		jobs[0].settle(links.Result{})
		jobs[1].key.Code = "" // taken
		return nil, vain
	})
	got := []verdict{first, <-group[1].told, <-group[2].told}
	if want := []verdict{{}, {collided: true}, {alone: true, err: vain}}; !reflect.DeepEqual(got, want) {
		t.Errorf("verdicts %+v, want %+v", got, want)
	}
}
