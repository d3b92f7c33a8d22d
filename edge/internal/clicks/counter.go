package clicks

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

// Config is what a Counter is made of. Zero values mean the defaults given here.
type Config struct {
	Spool  *spool.Spool // nil: every click is counted in memory, and a kill loses those not shipped
	Origin origin
	Folder string // of folded stretches, made when needed; under the spool's lock
	// Quarantine is the folder of stretches that origins refuse and of files that
	// cannot be read, made when needed; under the spool's lock. Refused ones may
	// take an eighth of Disk, and two stretches in any case.
	Quarantine string
	Region     string       // of this edge
	Disk       int64        // bytes that logs and folded stretches may take before more is folded (1 GiB)
	Clock      func() int64 // PostgreSQL's clock as the edge estimates it, microseconds since 1970
	Logger     *slog.Logger // (none)

	now func() time.Time // of this machine; tests set it
}

// Bounds of what is counted in memory: some 100 MB at worst.
const (
	memoryRecords   = 16 << 20
	memoryStretches = 16
)

const (
	compactEvery = 250 * time.Millisecond // of memory
	recordEvery  = time.Second            // of orphans
	drainTimeout = time.Second            // bounds the last attempt to ship
)

// Counter counts clicks. Count, Cancel, Orphan and Stats are safe from any
// goroutine at any time; what they count is shipped while Run runs.
type Counter struct {
	cfg     Config
	memory  *memory
	orphans orphans
	voids   voids
	counts  counts
	shipper *shipper
}

// New finds the logs and stretches that earlier processes left. What cannot be
// read of them is told and put away: an edge starts whatever they are like. It
// starts nothing.
func New(cfg Config) *Counter {
	if cfg.Disk <= 0 {
		cfg.Disk = 1 << 30
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.now == nil {
		cfg.now = time.Now
	}
	q := &quarantine{dir: cfg.Quarantine, most: max(cfg.Disk/8, 2*click.MaxStretch), logger: cfg.Logger}
	shelf := shelf{cfg.Folder, q}
	var logs []*spool.Log
	boot := rand.Text()
	if cfg.Spool != nil {
		logs = cfg.Spool.Logs()
		boot = logs[len(logs)-1].Boot()
	}
	sources := found(logs, shelf, cfg)
	q.measure()
	c := &Counter{
		cfg:    cfg,
		memory: newMemory(boot, cfg.Region, memoryBounds{records: memoryRecords, stretches: memoryStretches, bytes: stretchBytes}),
	}
	c.shipper = &shipper{
		origin: cfg.Origin, shelf: shelf, quarantine: q, budget: cfg.Disk, memory: c.memory, voids: &c.voids,
		builder: newBuilder(c.voids.has), sources: sources, stats: &c.counts, now: cfg.now,
		bytes: stretchBytes, least: leastBytes,
		shipping: trouble{logger: cfg.Logger, part: "origin"},
		folding:  trouble{logger: cfg.Logger, part: "room on disk"},
		removing: trouble{logger: cfg.Logger, part: "removal of a log"},
	}
	for _, src := range sources {
		src.reading = trouble{logger: cfg.Logger, part: src.boot}
		src.refusing = trouble{logger: cfg.Logger, part: "quarantine"}
	}
	return c
}

// A ticket is the offset of a record in the own log, or one of these.
const (
	inMemory = 1 << 63      // and its offset there
	nowhere  = 1<<64 - 1<<8 // lost
)

// Count counts a click before it is answered and returns a ticket for Cancel.
// It waits for the disk no longer than the spool's limit, allocates nothing
// while the disk works, and keeps nothing of r.
func (c *Counter) Count(r *click.Record) (ticket uint64) {
	if c.cfg.Spool != nil {
		var buf [click.MaxRecord]byte
		at, outcome := c.cfg.Spool.Append(r.Append(buf[:0]))
		if outcome != spool.Refused {
			return at
		}
	}
	at, ok := c.memory.count(r)
	if !ok {
		return nowhere
	}
	return inMemory | at
}

// Cancel takes back a click whose answer did not send the visitor on after all.
// It has to come right after Count: once the click was shipped it is too late,
// which is counted.
func (c *Counter) Cancel(ticket uint64, _ *click.Record) {
	switch {
	case ticket == nowhere:
		c.memory.lost.Add(^uint64(0))
	case ticket >= inMemory:
		c.memory.void(ticket &^ inMemory)
	default:
		if !c.void(ticket) && !c.voids.put(ticket) {
			c.counts.late.Add(1)
		}
	}
}

// void writes down that a click of the own log is none; not ok if the spool does
// not take it.
func (c *Counter) void(at uint64) bool {
	var buf [click.MaxRecord]byte
	_, outcome := c.cfg.Spool.Append(click.AppendVoid(buf[:0], at))
	return outcome != spool.Refused
}

// Orphan counts a request for a code that does not exist, at a time in
// microseconds since 1970. A kill loses those of the last second.
func (c *Counter) Orphan(at int64) { c.orphans.add(at) }

// Run ships what is counted until ctx ends, then once more for at most a second,
// and returns nil with nothing running. What is on its way to the origin when ctx
// ends is waited for, sendTimeout at most. The spool's Run must outlive it; what
// is not shipped is by the next process.
func (c *Counter) Run(ctx context.Context) error {
	var work sync.WaitGroup
	work.Go(func() { c.keep(ctx) })
	work.Go(func() { c.shipper.run(ctx) })
	work.Wait()
	for _, at := range c.voids.all() {
		_ = c.void(at) // a disk that takes nothing now either leaves it to drain
	}
	c.record()
	c.memory.pace.Hurry()
	c.shipper.builder.pace.Hurry()
	c.memory.compact()
	c.memory.compact()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	c.shipper.drain(last)
	return nil
}

// keep does what must not wait for the origin.
func (c *Counter) keep(ctx context.Context) {
	compact, record := time.NewTicker(compactEvery), time.NewTicker(recordEvery)
	defer compact.Stop()
	defer record.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-compact.C:
			c.memory.compact()
		case <-record.C:
			c.record()
		}
	}
}

// record writes down the orphans.
func (c *Counter) record() {
	for hour, n := range c.orphans.take() {
		count := click.HourCount{Hour: hour, Count: n}
		if c.cfg.Spool != nil {
			if _, outcome := c.cfg.Spool.Append(count.Append(nil)); outcome != spool.Refused {
				continue
			}
		}
		if !c.memory.orphans(count) {
			c.orphans.put(count)
		}
	}
}
