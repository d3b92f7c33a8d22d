package links

import (
	"context"
	"errors"
	"time"

	"waypost/shared/link"
)

// MaxBulk is the largest number of links created by one call.
const MaxBulk = 1000

// Outcome is what became of one input of many.
type Outcome struct {
	Link     link.Link
	Reused   bool
	Replayed bool
	Err      error // of Create
}

// Create makes a link, or finds one where reuse is asked for: a link with an
// alias, a start or an expiry of its own, or that is disabled, is always made.
// One that was carried out once, where the input asks for that, is answered as
// it was then. For what an earlier call made, edges are waited for again.
//
// Errors: ErrOtherRequest; *link.InvalidError with every fault that needs no
// look at the store, or else with those that do; ErrOwner; link.ErrTaken;
// ErrNoCode; link.ErrUnavailable.
func (s *Service) Create(ctx context.Context, c Caller, in *Input, ack Ack) (Written, error) {
	ins := []*Input{in}
	if h, known := s.knownHosts(); known {
		outcomes, receipt, err := s.create(ctx, c, ins, h, ack)
		if err != nil || !doubtful(outcomes[0].Err) {
			return one(outcomes, receipt, err)
		}
	}
	h, err := s.hosts(ctx)
	if err != nil {
		return Written{}, err
	}
	return one(s.create(ctx, c, ins, h, ack))
}

// doubtful reports an error that may come of a config which is not the one of
// now.
func doubtful(err error) bool {
	_, invalid := errors.AsType[*link.InvalidError](err)
	return invalid || errors.Is(err, ErrConfigMoved)
}

// one is what became of the only input.
func one(outcomes []Outcome, receipt Receipt, err error) (Written, error) {
	if err != nil {
		return Written{}, err
	}
	o := outcomes[0]
	if o.Err != nil {
		return Written{}, o.Err
	}
	return Written{Link: o.Link, Reused: o.Reused, Replayed: o.Replayed, Receipt: receipt}, nil
}

// Bulk is Create for up to MaxBulk inputs, each of which stands or falls for
// itself; outcomes are in the order of inputs. Edges are waited for once, for all
// of them. The error is that of all, ErrOtherRequest among them.
func (s *Service) Bulk(ctx context.Context, c Caller, ins []*Input, ack Ack) ([]Outcome, Receipt, error) {
	h, err := s.hosts(ctx)
	if err != nil {
		return nil, Receipt{}, err
	}
	return s.create(ctx, c, ins, h, ack)
}

// create is Bulk under a config.
func (s *Service) create(ctx context.Context, c Caller, ins []*Input, h hosts, ack Ack) ([]Outcome, Receipt, error) {
	answered, err := s.answered(ctx, ins)
	if err != nil {
		return nil, Receipt{}, err
	}
	outcomes := make([]Outcome, len(ins))
	var results []Result
	var mutations []Mutation
	var places []int // of results, then mutations, among the outcomes
	for i, r := range answered {
		results, places = append(results, r), append(places, i)
	}
	for i, in := range ins {
		if _, done := answered[i]; done {
			continue
		}
		m, err := s.creation(c, in, h)
		if err != nil {
			outcomes[i].Err = err
			continue
		}
		mutations, places = append(mutations, m), append(places, i)
	}
	if len(places) == 0 {
		return outcomes, Receipt{Ack: AckCommit}, nil
	}
	results, receipt, err := s.write(ctx, results, mutations, ack)
	if err != nil {
		return nil, Receipt{}, err
	}
	for j, r := range results {
		if errors.Is(r.Err, ErrOtherRequest) {
			return nil, Receipt{}, r.Err // it was spent meanwhile, so that none of these was made
		}
		outcomes[places[j]] = Outcome{Link: r.Link, Reused: r.Reused, Replayed: r.Replayed, Err: r.Err}
	}
	return outcomes, receipt, nil
}

// creation turns an input into the mutation that makes its link.
func (s *Service) creation(c Caller, in *Input, h hosts) (Mutation, error) {
	r := rules{caller: c, targets: h.targets, fresh: true}
	key, kind, f := in.place(h)
	r.domain = h.domain(key.Domain)
	// A dry run, with a time that its faults do not depend on: what is wrong
	// with the input itself is said without a transaction.
	var dry link.Link
	f = append(f, in.apply(&dry, r, time.Unix(0, 0))...)
	if err := f.err(); err != nil {
		return Mutation{}, err
	}
	if err := c.mayOwn(dry.Owner); err != nil {
		return Mutation{}, err
	}
	generated := key.Code == ""
	m := Mutation{Key: key, Once: in.Once, By: c.Key, Under: h.under, Merge: func(old *link.Link, now time.Time) (*link.Link, error) {
		return in.create(old, r, now, generated)
	}}
	if generated {
		m.Generate = func(ctx context.Context) (string, error) { return s.codes.Next(ctx, kind) }
		reuse := in.Reuse.given() && *in.Reuse.Value
		m.Reuse = reuse && dry.Enabled && dry.StartsAt.IsZero() && dry.ExpiresAt.IsZero()
	}
	return m, nil
}

// place returns the key of a new link, without a code if one is to be made by
// the generator of the returned kind.
func (in *Input) place(h hosts) (key link.Key, kind string, f faults) {
	fresh := rules{fresh: true}
	take(&f, fresh, "domain", in.Domain, "", h.parseDomain, &key.Domain)
	take(&f, fresh, "alias", in.Alias, "", link.ParseAlias, &key.Code)
	take(&f, fresh, "code_kind", in.CodeKind, KindRandom, parseKind, &kind)
	return key, kind, f
}

// create is the Merge of a new link. A generated code is never one that was
// used before, whoever deleted it.
func (in *Input) create(old *link.Link, r rules, now time.Time, generated bool) (*link.Link, error) {
	if old != nil && (generated || old.DeletedAt.IsZero()) {
		return nil, link.ErrTaken
	}
	l := new(link.Link)
	f := in.apply(l, r, now)
	in.checkOrder(&f, l, true, now)
	if err := f.err(); err != nil {
		return nil, err
	}
	if old != nil && !r.caller.mayTake(old, l) {
		return nil, link.ErrTaken
	}
	return l, nil
}
