package click

// Stretch is what happened between two offsets of one boot's log, added up. The
// origin applies it if its mark of the boot is From, and then moves it to To.
type Stretch struct {
	Boot, Region string
	From, To     uint64 // From <= To; the same: a question for the mark
	Last         bool   // the log is closed and ends at To
	Links        []LinkClicks
	Orphans      []HourCount // ascending by Hour
}

// LinkClicks are the clicks of one link. Links ascend in a stretch, so that
// those who apply stretches lock rows in one order.
type LinkClicks struct {
	Link   uint64
	Hours  []Hour   // ascending
	Days   []Day    // ascending; days without a visitor are left out
	Newest []Recent // newest first, at most MaxNewest
}

// Hour are the clicks of a link in one hour.
type Hour struct {
	Hour   int64  // hours since 1970
	Clicks uint64 // at least 1, bots included
	Bots   uint64
	Parts  []Part // ascending by dimension and value; those of each dimension add up to Clicks
}

// Part is how many clicks of an hour have one value in one dimension; "" is
// unknown, or direct for a referrer.
type Part struct {
	Dimension Dimension
	Value     string
	Clicks    uint64 // at least 1
}

// Day are the visitors of a link on one day, bots excluded.
type Day struct {
	Day      int64 // days since 1970
	Visitors Sketch
}

// Recent is one click as statistics show it.
type Recent struct {
	At       int64 // microseconds since 1970
	Region   string
	Referrer string
	Device   string
	Browser  string
	OS       string
	Country  string
	Bot      bool
}

// Clicks is the number of clicks in the stretch, bots included.
func (s *Stretch) Clicks() uint64 {
	var n uint64
	for i := range s.Links {
		for j := range s.Links[i].Hours {
			n += s.Links[i].Hours[j].Clicks
		}
	}
	return n
}
