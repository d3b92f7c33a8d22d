package spool

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
)

// appenders is how many goroutines append in the child that is killed.
const appenders = 16

// appendForEver is a child that appends from many goroutines until it is killed.
// A payload is the goroutine and a number that counts up; after each append the
// goroutine is told to stdout as one byte, in a range for each outcome.
func appendForEver(dir, _ string) {
	s, err := Open(Config{Dir: dir, SegmentBytes: 64 << 10})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	go func() { _ = s.Run(context.Background()) }()
	for s.Stats().Stalled {
		runtime.Gosched()
	}
	for g := range byte(appenders) {
		go func() {
			payload := make([]byte, 9+7*int(g))
			payload[0] = g
			for n := uint64(0); ; {
				binary.LittleEndian.PutUint64(payload[1:], n)
				if _, o := s.Append(payload); o != Refused {
					n++
					_, _ = os.Stdout.Write([]byte{byte(o)*appenders + g})
				}
			}
		}()
	}
	select {}
}

func TestAKillLosesNothingThatWasWritten(t *testing.T) {
	t.Parallel()
	kills := 50
	if testing.Short() {
		kills = 8
	}
	dir := t.TempDir()
	var told tally
	for range kills {
		c := newChild(t, "append", dir, "")
		if _, err := io.CopyN(io.Discard, told.count(c.out), 1+rand.Int64N(5_000)); err != nil {
			t.Fatal(err)
		}
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, told.count(c.out)); err != nil { // what it said before it died
			t.Fatal(err)
		}
		_ = c.cmd.Wait() // killed
	}

	s, err := Open(Config{Dir: dir}) // the last one's lock has gone with it
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing was written
	var found [appenders]uint64
	for _, l := range s.Logs() {
		next := [appenders]uint64{}
		readAll(t, l, func(_ uint64, payload []byte) {
			g := payload[0]
			if got := binary.LittleEndian.Uint64(payload[1:]); got != next[g] {
				t.Errorf("goroutine %d: got number %d, want %d", g, got, next[g])
			}
			next[g]++
			found[g]++
		})
	}
	for g := range uint64(appenders) {
		written, held := told[g], told[appenders+g] // what was held may be there or not
		if inFlight := uint64(kills); found[g] < written || found[g] > written+held+inFlight {
			t.Errorf("goroutine %d: %d frames found; %d were written, %d held, %d in flight", g, found[g], written, held, inFlight)
		}
	}
	if s.Stats().Damaged != 0 {
		t.Errorf("got %d damaged segments, want none", s.Stats().Damaged)
	}
}

// tally counts the bytes that a child told, by their value.
type tally [2 * appenders]uint64

// count counts what is read from r.
func (t *tally) count(r io.Reader) io.Reader { return tallied{t, r} }

type tallied struct {
	tally *tally
	r     io.Reader
}

func (t tallied) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	for _, b := range p[:n] {
		t.tally[b]++
	}
	return n, err
}
