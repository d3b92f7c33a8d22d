package click

// Bounds of what a record and a stretch may hold.
const (
	MaxReferrer  = 253     // bytes of a referrer: the longest host name
	MaxLanguage  = 16      // bytes of a language tag
	MaxLabel     = 64      // bytes of a boot or a region
	MaxRecord    = 384     // bytes of a payload that this package appends
	MaxNewest    = 20      // clicks of a link that are kept one by one
	MaxReferrers = 1_000   // referrers of a link and day that are told apart
	MaxLanguages = 100     // languages of a link and day that are told apart
	MaxStretch   = 4 << 20 // bytes of a stretch
)

// Other is the value that stands for all those beyond the bounds.
const Other = "other"

// maxCount bounds one count on the wire, so that sums of them do not overflow:
// a stretch of MaxStretch bytes cannot hold 2^16 times as many numbers.
const maxCount = 1 << 44

// maxAt is later than any click, the year 4253, and maxHour its hour.
const (
	maxAt   = 1<<56 - 1
	maxHour = maxAt / microsecondsPerHour
)

const (
	microsecondsPerHour = 3_600_000_000
	hoursPerDay         = 24
)

// HourOf is the hour since 1970 of a time in microseconds since 1970; a time
// before that belongs to hour 0.
func HourOf(at int64) int64 { return max(at, 0) / microsecondsPerHour }

// HourStart is when an hour begins, microseconds since 1970.
func HourStart(hour int64) int64 { return hour * microsecondsPerHour }

// DayOf is the day since 1970 (UTC) of an hour since 1970.
func DayOf(hour int64) int64 { return hour / hoursPerDay }
