package spool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// A frame is
//
//	length uint32 LE   of the payload, 1 to MaxPayload
//	sum    uint32 LE   CRC-32C of the payload
//	payload, then zeros up to a multiple of 8 bytes
//
// so that the first 8 bytes of every frame are one aligned word: the ring
// publishes a frame by storing it. Zeros are no frame, since a length is never 0.
const (
	// MaxPayload is the largest payload of an append, in bytes.
	MaxPayload = 64 << 10

	wordBytes = 8
)

var (
	errTorn    = errors.New("frame goes beyond the end")
	errDamaged = errors.New("frame is damaged")
)

// frameBytes is the size of a frame with a payload of n bytes.
func frameBytes(n int) uint64 {
	return uint64(wordBytes + (n+wordBytes-1)&^(wordBytes-1)) //nolint:gosec // a length is not negative
}

// frameWord is the first word of the frame of a payload of n bytes, as memory
// holds it.
func frameWord(n int, sum uint32) uint64 {
	var b [wordBytes]byte
	binary.LittleEndian.PutUint32(b[:4], uint32(n)) //nolint:gosec // Append bounds it by MaxPayload
	binary.LittleEndian.PutUint32(b[4:], sum)
	return binary.NativeEndian.Uint64(b[:])
}

// wordLength is the length that a first word states.
func wordLength(word uint64) int {
	var b [wordBytes]byte
	binary.NativeEndian.PutUint64(b[:], word)
	return int(binary.LittleEndian.Uint32(b[:4]))
}

// parseFrame takes the first frame off b. The payload is a part of b. It fails
// with errTorn if b may be the beginning of a frame, else with errDamaged.
func parseFrame(b []byte) (payload []byte, size uint64, err error) {
	if len(b) < wordBytes {
		return nil, 0, errTorn
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n == 0 || n > MaxPayload {
		return nil, 0, errDamaged
	}
	size = frameBytes(n)
	if uint64(len(b)) < size {
		return nil, 0, errTorn
	}
	payload = b[wordBytes : wordBytes+n : wordBytes+n]
	if checksum(payload) != binary.LittleEndian.Uint32(b[4:]) {
		return nil, 0, errDamaged
	}
	return payload, size, nil
}

func checksum(b []byte) uint32 { return moreChecksum(0, b) }

// moreChecksum is the checksum of what has the checksum sum, and of b behind it.
func moreChecksum(sum uint32, b []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), b)
}

// distance is the number of bytes between two offsets of a log.
func distance(from, to uint64) int64 {
	return int64(to - from) //nolint:gosec // no log grows to 2^63 bytes
}
