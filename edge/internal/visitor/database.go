package visitor

import (
	"fmt"
	"net/netip"
	"os"
	"sync/atomic"

	"github.com/oschwald/maxminddb-golang/v2"
)

// maxDatabase bounds the file in bytes; a GeoLite2 city file has some 60 MiB.
const maxDatabase = 1 << 30

// database is one version of the country file. Safe for concurrent use.
type database struct {
	reader *maxminddb.Reader
	// The countries of records that were decoded before, by the record's offset:
	// offset << 16 | two letters.
	decoded [1 << 12]atomic.Uint64
}

// openDatabase reads a file in MaxMind's format whole. It is not mapped: one
// that is overwritten in place would end the process with a bus error.
func openDatabase(name string) (*database, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("country file: %w", err)
	}
	if info.Size() > maxDatabase {
		return nil, fmt.Errorf("country file %s: %d bytes are more than %d", name, info.Size(), maxDatabase)
	}
	content, err := os.ReadFile(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("country file: %w", err)
	}
	reader, err := maxminddb.OpenBytes(content)
	if err != nil {
		return nil, fmt.Errorf("country file %s: %w", name, err)
	}
	return &database{reader: reader}, nil
}

// country is the two letters of an address' country as a word, 0 where the file
// does not know it.
func (d *database) country(address netip.Addr) letters {
	address = address.Unmap()
	if !address.IsValid() || address.Is6() && d.reader.Metadata.IPVersion == 4 {
		return 0
	}
	found := d.reader.Lookup(address)
	if !found.Found() {
		return 0
	}
	offset := uint64(found.Offset())
	slot := &d.decoded[offset*0x9e3779b97f4a7c15>>52] // Fibonacci hashing; 52 leaves the slots' 12 bits
	if held := slot.Load(); held>>16 == offset && held&0xffff != 0 {
		return letters(held) //nolint:gosec // the lower half
	}
	var code string
	if err := found.DecodePath(&code, "country", "iso_code"); err != nil {
		return 0
	}
	l := lettersOf([]byte(code))
	slot.Store(offset<<16 | uint64(l))
	return l
}
