package spool

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// Whatever a segment file holds: frames that are read are in it one after the
// other, and reading ends.
func FuzzSegment(f *testing.F) {
	const boot = "20260102T030405.678Z-0123456789abcdef"
	header := newHeader(boot, "eu", 4096)
	f.Add([]byte{})
	f.Add(header)
	f.Add(slices.Concat(header, addFrame(nil, []byte("one")), addFrame(nil, []byte("twotwotwo"))))
	f.Add(slices.Concat(header, addFrame(nil, []byte("one")), make([]byte, 64)))
	f.Add(slices.Concat(header, addFrame(nil, make([]byte, 300)), addFrame(nil, []byte("x"))[:9]))
	f.Fuzz(func(t *testing.T, b []byte) {
		next := uint64(4096)
		again := slices.Clone(header)
		to, err := walk(bytes.NewReader(b), boot, extent{4096, 4096, 1 << 62, 1 << 62}, func(at uint64, payload []byte) error {
			if at != next {
				t.Errorf("got a frame at %d, want %d", at, next)
			}
			next += frameBytes(len(payload))
			again = addFrame(again, payload)
			return nil
		})
		if to != next || !damaged(err) {
			t.Errorf("ended at %d, %v; want %d and why", to, err, next)
		}
		h, headErr := parseHeader(b)
		switch {
		case headErr != nil && (!errors.Is(err, errHeader) || next != 4096):
			t.Errorf("got frames behind a damaged header: %v", err)
		case headErr == nil && h.label == "eu" && !samePadded(b, again):
			t.Error("the frames that were read are not in the file")
		}
	})
}

// samePadded compares but for the padding, which no sum covers.
func samePadded(file, again []byte) bool {
	if len(file) < len(again) {
		return false
	}
	a, b := file[:len(again)], again
	for at := headerSize("20260102T030405.678Z-0123456789abcdef", "eu"); at < len(b); {
		payload, size, err := parseFrame(a[at:])
		want, _, _ := parseFrame(b[at:])
		if err != nil || !bytes.Equal(payload, want) {
			return false
		}
		at += int(size)
	}
	return true
}

func FuzzHeader(f *testing.F) {
	f.Add(newHeader("boot", "label", 1))
	f.Add(newHeader("", "", 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHeader(b)
		if err != nil {
			return
		}
		if h.size > len(b) || len(h.boot) > h.size || len(h.label) > h.size {
			t.Errorf("got %+v out of %d bytes", h, len(b))
		}
		if again, err := parseHeader(newHeader(h.boot, h.label, h.base)); err != nil || again.base != h.base || again.boot != h.boot || again.label != h.label {
			t.Errorf("got %+v, %v, want %+v", again, err, h)
		}
	})
}
