package visitor

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// reloadEvery is how often the country file is looked at.
const reloadEvery = 5 * time.Second

// letters is a country code's two letters as one word; 0 is unknown.
type letters uint16

// lettersOf reads two letters of either case; 0 for anything else, and for the
// codes by which proxies say that they do not know: XX, and T1 of a network
// that hides its users.
func lettersOf(code []byte) letters {
	if len(code) != 2 {
		return 0
	}
	a, b := code[0]&^0x20, code[1]&^0x20
	if a < 'A' || a > 'Z' || b < 'A' || b > 'Z' || a == 'X' && b == 'X' {
		return 0
	}
	return letters(a)<<8 | letters(b)
}

// alphabet holds every code, so that none has to be made for a click.
type alphabet string

func newAlphabet() alphabet {
	var all strings.Builder
	for a := byte('A'); a <= 'Z'; a++ {
		for b := byte('A'); b <= 'Z'; b++ {
			all.WriteByte(a)
			all.WriteByte(b)
		}
	}
	return alphabet(all.String())
}

// name is the code as text, "" for unknown.
func (a alphabet) name(l letters) string {
	if l == 0 {
		return ""
	}
	at := 2 * (26*int(l>>8-'A') + int(l&0xff-'A'))
	return string(a[at : at+2])
}

// countries is the country file as it is now. Safe for concurrent use; Run is
// one goroutine's.
type countries struct {
	file    string
	logger  *slog.Logger
	current atomic.Pointer[database] // nil: none that could be read yet
	seen    stamp
}

type stamp struct {
	modified time.Time
	size     int64
}

// load takes over the file as it is now. One that is missing or broken is one
// log line, until it changes; the last good one stays in use.
func (c *countries) load(ctx context.Context) {
	c.seen = c.stamp() // before reading: a change in between is seen next time
	read, err := openDatabase(c.file)
	if err != nil {
		c.logger.LogAttrs(ctx, slog.LevelWarn, "visitors' countries cannot be read from the file; the last good one stays, if there was one",
			slog.Any("error", err))
		return
	}
	c.current.Store(read)
	c.logger.LogAttrs(ctx, slog.LevelInfo, "visitors' countries read",
		slog.String("file", c.file), slog.String("type", read.reader.Metadata.DatabaseType), slog.Time("built", read.reader.Metadata.BuildTime()))
}

func (c *countries) watch(ctx context.Context) {
	ticker := time.NewTicker(reloadEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.reload(ctx)
		}
	}
}

// reload is load for a file that has changed since; it says whether it has.
func (c *countries) reload(ctx context.Context) bool {
	if c.stamp() == c.seen {
		return false
	}
	c.load(ctx)
	return true
}

func (c *countries) stamp() stamp {
	info, err := os.Stat(c.file)
	if err != nil {
		return stamp{}
	}
	return stamp{modified: info.ModTime(), size: info.Size()}
}

// of is an address' country by the file; 0 without a file.
func (c *countries) of(address netip.Addr) letters {
	if d := c.current.Load(); d != nil {
		return d.country(address)
	}
	return 0
}
