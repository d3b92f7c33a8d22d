package contract

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"waypost/bench/fleet"
)

// binaries are those in the folder WAYPOST_TEST_BIN, an absolute path, or built at their first use.
var binaries = fleet.NewBinaries(os.Getenv("WAYPOST_TEST_BIN"))

func TestMain(m *testing.M) { goleak.VerifyTestMain(fleet.Main(m, binaries)) }

// TestContract is all of it on one fleet. Each part leaves behind what it made.
func TestContract(t *testing.T) {
	s := newStage(t)
	t.Run("the document is one", s.documentIsOne)
	t.Run("everything is described", s.everythingIsDescribed)
	t.Run("examples are taken", s.examplesAreTaken)
	t.Run("answers are the documented", s.answersAreTheDocumented)
	t.Run("methods are the documented", s.methodsAreTheDocumented)
	t.Run("fields take what they promise", s.fieldsTakeWhatTheyPromise)
	t.Run("parameters take what they promise", s.parametersTakeWhatTheyPromise)
	t.Run("bodies are objects", s.bodiesAreObjects)
	t.Run("scopes are kept apart", s.scopesAreKeptApart)
	t.Run("owners are kept apart", s.ownersAreKeptApart)
	t.Run("one of twenty changes of a version", s.oneOfTwentyChanges)
	t.Run("a generated client works", s.generatedClientWorks)
	t.Run("nothing is answered without a store", s.nothingIsAnsweredWithoutAStore)
}
