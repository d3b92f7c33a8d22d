package links

import "time"

// Allowance is how many links somebody may create: a bucket of Burst tokens, one
// for each link, into which Rate come a second.
type Allowance struct {
	Rate  float64 // tokens a second, MinCreateRate to MaxCreateRate
	Burst int     // tokens, 1 to MaxCreateBurst
}

// The bounds of an allowance.
const (
	MinCreateRate  = 0.01
	MaxCreateRate  = 10_000
	MaxCreateBurst = 1_000_000
)

// Grant is what a bucket gave of the tokens that it was asked for.
type Grant struct {
	Tokens int           // given
	Left   int           // still in the bucket
	Wait   time.Duration // until there is one more than Left; 0: the bucket is full
}

// Creates is how many links the key may create, where the service's own
// allowance counts for what was not said of the key. Admin keys are not limited;
// whether this is one, the caller asks.
func (k *APIKey) Creates(service Allowance) Allowance {
	a := service
	if k.CreateRate > 0 {
		a.Rate = k.CreateRate
	}
	if k.CreateBurst > 0 {
		a.Burst = k.CreateBurst
	}
	return a
}
