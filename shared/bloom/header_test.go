package bloom

import (
	"errors"
	"testing"
)

func valid() Header {
	return Header{Shape: Shape{M: 149_760, K: 6}, Epoch: 3, Position: 1 << 40, Generation: 0xdeadbeef}
}

func TestHeaderComesBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	h := valid()
	b := h.Append([]byte("front"))
	if got, want := len(b), len("front")+HeaderSize; got != want {
		t.Fatalf("length: got %d, want %d", got, want)
	}
	got, err := ParseHeader(string(b[len("front"):]) + "bits behind")
	if err != nil || got != h {
		t.Errorf("ParseHeader: got %+v, %v, want %+v", got, err, h)
	}
	if got, err := h.Words().Header(); err != nil || got != h {
		t.Errorf("of its words: got %+v, %v, want %+v", got, err, h)
	}
}

func TestDamagedHeadersAreNoFilter(t *testing.T) {
	t.Parallel()
	with := func(change func(*Header)) string {
		h := valid()
		change(&h)
		return string(h.Append(nil))
	}
	good := with(func(*Header) {})
	for name, b := range map[string]string{
		"empty":         "",
		"short":         good[:HeaderSize-1],
		"other magic":   "X" + good[1:],
		"no bits":       with(func(h *Header) { h.M = 0 }),
		"too many bits": with(func(h *Header) { h.M = MaxM + WordBits }),
		"half a word":   with(func(h *Header) { h.M += WordBits / 2 }),
		"no hashes":     with(func(h *Header) { h.K = 0 }),
		"odd hashes":    with(func(h *Header) { h.K = 3 }),
		"many hashes":   with(func(h *Header) { h.K = MaxK + 2 }),
		"epoch":         with(func(h *Header) { h.Epoch = 1 << 53 }),
		"position":      with(func(h *Header) { h.Position = 1 << 63 }),
	} {
		if got, err := ParseHeader(b); !errors.Is(err, ErrHeader) {
			t.Errorf("%s: got %+v, %v, want ErrHeader", name, got, err)
		}
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add("")
	f.Add(string(valid().Append(nil)))
	f.Add(string(New(valid()).Append(nil)[:HeaderSize+3]))
	f.Fuzz(func(t *testing.T, b string) {
		h, err := ParseHeader(b)
		if err != nil {
			if !errors.Is(err, ErrHeader) {
				t.Fatalf("error: got %v, want ErrHeader", err)
			}
			return
		}
		if !h.Valid() {
			t.Fatalf("accepted a shape that is not valid: %+v", h)
		}
		if got := string(h.Append(nil)); got != b[:HeaderSize] {
			t.Fatalf("written again: got %x, want %x", got, b[:HeaderSize])
		}
	})
}
