package click

// Dimension is one way to break a link's clicks down.
type Dimension uint8

// The dimensions, in their order on the wire.
const (
	ByRegion Dimension = iota
	ByReferrer
	ByCountry
	ByLanguage
	ByDevice
	ByBrowser
	ByOS
	Dimensions = int(iota) // how many there are
)

// String is the dimension's name in statistics.
func (d Dimension) String() string {
	return nameOf([]string{"region", "referrer", "country", "language", "device", "browser", "os"}, d)
}

// bound is how many values of the dimension a link and day may have, besides
// Other; 0: as many as there are.
func (d Dimension) bound() int {
	switch d {
	case ByReferrer:
		return MaxReferrers
	case ByLanguage:
		return MaxLanguages
	default:
		return 0
	}
}
