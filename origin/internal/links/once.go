package links

import (
	"context"
	"crypto/sha256"
	"errors"
)

// ErrOtherRequest refuses a creation whose Once names a call that was spent on
// another request.
var ErrOtherRequest = errors.New("call was spent on another request")

// Once makes a creation one that is carried out once, however often it is asked
// for: as long as the store remembers it, which is a day at least, it is
// answered as it was the first time. Only creations that succeed are remembered.
type Once struct {
	Call    [sha256.Size]byte // who asks, and the name that they gave the call
	Item    int               // which of the call's items; 0 where there is but one
	Request [sha256.Size]byte // what is asked for, the same for all items of a call
}

// Once returns the Once of the first item of a call that the caller's API key
// gave a name. Calls of other keys are others, whatever their names.
func (c Caller) Once(name string, request [sha256.Size]byte) Once {
	return Once{Call: sha256.Sum256([]byte(c.Key + "\x00" + name)), Request: request}
}

// At is the Once of another item of the same call.
func (o Once) At(item int) *Once {
	o.Item = item
	return &o
}

// answered returns what became of inputs that were carried out before, by their
// places. It asks before anything of an input is checked: what was right then
// may be refused now, and the answer stays the same. Errors: ErrOtherRequest,
// link.ErrUnavailable.
func (s *Service) answered(ctx context.Context, ins []*Input) (map[int]Result, error) {
	var asked []Once
	var places []int // of what is asked among the inputs
	for i, in := range ins {
		if in.Once != nil {
			asked, places = append(asked, *in.Once), append(places, i)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	results, err := s.records.Answered(ctx, asked)
	if err != nil {
		return nil, err
	}
	found := make(map[int]Result)
	for j, r := range results {
		switch {
		case r.Err != nil:
			return nil, r.Err
		case r.Replayed:
			found[places[j]] = r
		}
	}
	return found, nil
}

// Done reports which of the first items of a call were carried out before: they
// would be answered and not done again. Errors: ErrOtherRequest,
// link.ErrUnavailable.
func (s *Service) Done(ctx context.Context, once Once, items int) ([]bool, error) {
	asked := make([]Once, items)
	for i := range asked {
		asked[i] = *once.At(i)
	}
	results, err := s.records.Answered(ctx, asked)
	if err != nil {
		return nil, err
	}
	done := make([]bool, items)
	for i, r := range results {
		if r.Err != nil {
			return nil, r.Err
		}
		done[i] = r.Replayed
	}
	return done, nil
}
