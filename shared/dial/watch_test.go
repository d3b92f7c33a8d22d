package dial

import (
	"testing"
	"time"
)

func TestAnswersAreWatchedForATenthOfTheTime(t *testing.T) {
	t.Parallel()
	w := newWatch()
	now := w.born
	watched := time.Duration(0)
	const questions, apart = 10_000, 7 * time.Microsecond
	for range questions {
		now = now.Add(apart)
		if until := w.begin(now); !until.IsZero() {
			watched += until.Sub(now)
			w.end(true)
		}
	}
	if all := questions * apart; watched == 0 || watched > all/10+watchFor {
		t.Errorf("watched for %v of %v, want a tenth at most, and some", watched, all)
	}
}

func TestAnswersThatTakeLongAreHardlyWatchedFor(t *testing.T) {
	t.Parallel()
	w := newWatch()
	now := w.born
	begins := func(questions int, came bool) (n int) {
		for range questions {
			now = now.Add(watchEvery)
			if until := w.begin(now); !until.IsZero() {
				n++
				w.end(came)
			}
		}
		return n
	}
	if got := begins(64, true); got != 64 {
		t.Errorf("watches of 64 questions whose answers come: got %d, want all", got)
	}
	if got := begins(1000, false); got > maxMissed+1000>>maxMissed+1 {
		t.Errorf("watches of 1000 questions whose answers take longer: got %d, want ever fewer", got)
	}
	begins(2<<maxMissed, true) // one of these is watched for
	if got := begins(64, true); got != 64 {
		t.Errorf("watches of 64 questions, once answers come: got %d, want all", got)
	}
}
