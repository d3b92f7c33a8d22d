package links

import (
	"fmt"
	"slices"

	"waypost/shared/link"
)

// KeyInput is what a caller wishes an API key to be. Values are as sent: nothing
// is checked yet.
type KeyInput struct {
	Note        Field[string]
	CreateRate  Field[float64] // links a second, default the service's
	CreateBurst Field[int64]   // links, default the service's

	// These say what a new key may do; they cannot be changed later.
	Owner  Field[string]
	Scopes Field[[]string]
}

// Apply sets what the input has of fields that can be changed. Null sets one
// back to its default.
func (in *KeyInput) Apply(key *APIKey) {
	if in.Note.Set {
		key.Note = in.Note.or("")
	}
	if in.CreateRate.Set {
		key.CreateRate = in.CreateRate.or(0)
	}
	if in.CreateBurst.Set {
		key.CreateBurst = int(in.CreateBurst.or(0))
	}
}

// check finds every fault in the fields that can be changed.
func (in *KeyInput) check() (f faults) {
	if _, err := parseText(in.Note.or(""), link.MaxTitle); err != nil {
		f.add("note", err.Error())
	}
	if rate := in.CreateRate.or(MaxCreateRate); !(rate >= MinCreateRate && rate <= MaxCreateRate) { // NaN too
		f.add("create_rate", fmt.Sprintf("must be a number from %v to %v", MinCreateRate, MaxCreateRate))
	}
	if burst := in.CreateBurst.or(1); burst < 1 || burst > MaxCreateBurst {
		f.add("create_burst", fmt.Sprintf("must be a whole number from 1 to %d", MaxCreateBurst))
	}
	return f
}

// checkNew returns the scopes of a new key in order and without repeats, or
// every fault of the input.
func (in *KeyInput) checkNew() ([]string, error) {
	owner, scopes := in.Owner.or(""), in.Scopes.or(nil)
	f := in.check()
	if _, err := parseOwner(owner); err != nil {
		f.add("owner", err.Error())
	}
	all := []string{ScopeLinksRead, ScopeLinksWrite, ScopeStatsRead, ScopeAdmin}
	if len(scopes) == 0 || slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(all, s) }) {
		f.add("scopes", "must be one or more of links:read, links:write, stats:read and admin")
	}
	if owner != "" && slices.Contains(scopes, ScopeAdmin) {
		f.add("owner", "must be empty for an admin key, which is not confined")
	}
	ordered := slices.DeleteFunc(all, func(s string) bool { return !slices.Contains(scopes, s) })
	return ordered, f.err()
}
