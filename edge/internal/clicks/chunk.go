package clicks

import (
	"fmt"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
	"waypost/shared/pace"
)

// chunkBytes is how much of a log is held in memory at a time. It is also how
// far behind a click its void may stand and be seen in time: some 10,000 clicks.
const chunkBytes = 1 << 20

// chunk is a run of payloads with their offsets. It keeps its memory.
type chunk struct {
	frames []frame
	voids  []frame // those of frames that are voids
	bytes  []byte
	end    uint64 // offset where the next chunk begins
}

type frame struct {
	at       uint64
	from, to int // in bytes
}

func (c *chunk) add(at uint64, payload []byte) {
	from := len(c.bytes)
	c.bytes = append(c.bytes, payload...)
	f := frame{at, from, len(c.bytes)}
	c.frames = append(c.frames, f)
	if click.KindOf(payload) == click.KindVoid {
		c.voids = append(c.voids, f)
	}
}

func (c *chunk) payload(f frame) []byte { return c.bytes[f.from:f.to] }

func (c *chunk) reset(end uint64) {
	c.frames, c.voids, c.bytes, c.end = c.frames[:0], c.voids[:0], c.bytes[:0], end
}

// read fills the chunk from an offset of a log on; it is empty at the end of the
// log.
func (c *chunk) read(log *spool.Log, from uint64, p *pace.Pace) error {
	c.reset(from)
	to, err := log.Read(from, chunkBytes, func(at uint64, payload []byte) error {
		c.add(at, payload)
		p.Rest()
		return nil
	})
	c.end = to
	if err != nil {
		return fmt.Errorf("log %s: %w", log.Boot(), err)
	}
	return nil
}
