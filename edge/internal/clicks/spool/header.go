package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// The header of a segment is
//
//	magic  [8]byte
//	format uint16 LE  1
//	size   uint16 LE  of the header, a multiple of 8
//	boot   uint8      length of the boot
//	label  uint8      length of the label
//	       uint16     zero
//	base   uint64 LE  offset of the first frame in the log
//	boot, label, zeros
//	sum    uint32 LE  CRC-32C of all before it
//
// so the file holds the frame of offset o at size + o - base.
const (
	magic      = "WPCLICKS"
	format     = 1
	fixedBytes = 24
	sumBytes   = 4
	maxHeader  = 512
	// MaxLabel is the longest Config.Label, in bytes.
	MaxLabel = 255
)

var errHeader = errors.New("segment header is damaged or of another format")

// newHeader is the header of a segment.
func newHeader(boot, label string, base uint64) []byte {
	size := headerSize(boot, label)
	b := append(make([]byte, 0, size), magic...)
	b = binary.LittleEndian.AppendUint16(b, format)
	b = binary.LittleEndian.AppendUint16(b, uint16(size))  //nolint:gosec // at most maxHeader
	b = append(b, byte(len(boot)), byte(len(label)), 0, 0) //nolint:gosec // a boot has 38 bytes, a label at most MaxLabel
	b = binary.LittleEndian.AppendUint64(b, base)
	b = append(b, boot...)
	b = append(b, label...)
	b = b[:size-sumBytes] // zeros
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

func headerSize(boot, label string) int {
	return (fixedBytes + len(boot) + len(label) + sumBytes + wordBytes - 1) &^ (wordBytes - 1)
}

// header is what one says; size is its own.
type header struct {
	boot, label string
	base        uint64
	size        int
}

// parseHeader takes a header off b, which may be longer.
func parseHeader(b []byte) (header, error) {
	if len(b) < fixedBytes || !bytes.HasPrefix(b, []byte(magic)) || binary.LittleEndian.Uint16(b[8:]) != format {
		return header{}, errHeader
	}
	size := int(binary.LittleEndian.Uint16(b[10:]))
	names := fixedBytes + int(b[12])
	end := names + int(b[13])
	if size > len(b) || size%wordBytes != 0 || end+sumBytes > size || binary.LittleEndian.Uint32(b[size-sumBytes:]) != checksum(b[:size-sumBytes]) {
		return header{}, errHeader
	}
	return header{string(b[fixedBytes:names]), string(b[names:end]), binary.LittleEndian.Uint64(b[16:]), size}, nil
}
