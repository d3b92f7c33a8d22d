package spool

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// What else was tried, as small as it can be compared: no segments, no
// recovery, no limit. README.md has the numbers.

// candidate is a way to make a frame survive this process.
type candidate interface {
	append(payload []byte)
	close()
}

// candidates make one in a folder each.
func candidates() map[string]func(testing.TB, string) candidate {
	return map[string]func(testing.TB, string) candidate{
		"spool":   newKept,
		"direct":  newDirect,
		"double":  newDouble,
		"sharded": newSharded,
		"leader":  newLeader,
		"mmap":    newMapped,
	}
}

func newFile(tb testing.TB, dir string) *os.File {
	tb.Helper()
	f, err := os.Create(filepath.Join(dir, "candidate"))
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// addFrame adds a payload's frame to dst.
func addFrame(dst, payload []byte) []byte {
	dst = binary.NativeEndian.AppendUint64(dst, frameWord(len(payload), checksum(payload)))
	dst = append(dst, payload...)
	return append(dst, make([]byte, int(frameBytes(len(payload)))-wordBytes-len(payload))...)
}

// kept is the spool.
type kept struct {
	*Spool
	stop func()
}

func newKept(tb testing.TB, dir string) candidate {
	tb.Helper()
	s, stop := start(tb, Config{Dir: dir})
	return kept{s, stop}
}

func (k kept) append(payload []byte) { k.Append(payload) }
func (k kept) close()                { k.stop() }

// direct is one write(2) an append.
type direct struct {
	f    *os.File
	at   atomic.Int64
	bufs sync.Pool
}

func newDirect(tb testing.TB, dir string) candidate {
	tb.Helper()
	return &direct{f: newFile(tb, dir), bufs: sync.Pool{New: func() any { return new([]byte) }}}
}

func (d *direct) append(payload []byte) {
	b := d.bufs.Get().(*[]byte)
	*b = addFrame((*b)[:0], payload)
	n := int64(len(*b))
	_, _ = d.f.WriteAt(*b, d.at.Add(n)-n)
	d.bufs.Put(b)
}

func (d *direct) close() { _ = d.f.Close() }

// double is a writer goroutine with two buffers under a lock (or a few shards of
// that) and one broadcast a write.
type double struct {
	f      *os.File
	shards []*shard
	turn   atomic.Uint64
	wake   chan struct{}
	ended  chan struct{}
}

type shard struct {
	mu      sync.Mutex
	written sync.Cond
	buf     []byte
	batch   uint64 // being filled
	done    uint64 // the last one that is written
}

func newDouble(tb testing.TB, dir string) candidate {
	tb.Helper()
	return newShards(tb, dir, 1)
}

func newSharded(tb testing.TB, dir string) candidate {
	tb.Helper()
	return newShards(tb, dir, 4)
}

func newShards(tb testing.TB, dir string, shards int) candidate {
	tb.Helper()
	d := &double{f: newFile(tb, dir), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	for range shards {
		s := &shard{batch: 1}
		s.written.L = &s.mu
		d.shards = append(d.shards, s)
	}
	go d.write()
	return d
}

func (d *double) append(payload []byte) {
	s := d.shards[0]
	if n := uint64(len(d.shards)); n > 1 {
		s = d.shards[d.turn.Add(1)%n]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf = addFrame(s.buf, payload)
	batch := s.batch
	select {
	case d.wake <- struct{}{}:
	default:
	}
	for s.done < batch {
		s.written.Wait()
	}
}

func (d *double) write() {
	defer close(d.ended)
	var at int64
	spare := make([][]byte, len(d.shards))
	for range d.wake {
		runtime.Gosched()
		for i, s := range d.shards {
			s.mu.Lock()
			buf, batch := s.buf, s.batch
			s.buf, s.batch = spare[i][:0], batch+1
			s.mu.Unlock()
			n, _ := d.f.WriteAt(buf, at)
			at += int64(n)
			spare[i] = buf
			s.mu.Lock()
			s.done = batch
			s.written.Broadcast()
			s.mu.Unlock()
		}
	}
}

func (d *double) close() {
	close(d.wake)
	<-d.ended
	_ = d.f.Close()
}

// leader lets the first append that waits write for all that have come since.
type leader struct {
	f           *os.File
	mu          sync.Mutex
	written     sync.Cond
	buf, spare  []byte
	batch, done uint64
	writing     bool
	at          int64
}

func newLeader(tb testing.TB, dir string) candidate {
	tb.Helper()
	l := &leader{f: newFile(tb, dir), batch: 1}
	l.written.L = &l.mu
	return l
}

func (l *leader) append(payload []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = addFrame(l.buf, payload)
	mine := l.batch
	for l.done < mine {
		if l.writing {
			l.written.Wait()
			continue
		}
		l.writing = true
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
		buf, batch := l.buf, l.batch
		l.buf, l.batch = l.spare[:0], batch+1
		l.mu.Unlock()
		n, _ := l.f.WriteAt(buf, l.at)
		l.mu.Lock()
		l.at += int64(n)
		l.spare, l.done, l.writing = buf, batch, false
		l.written.Broadcast()
	}
}

func (l *leader) close() { _ = l.f.Close() }

// mapped stores into a mapping of the file, whose pages are touched ahead.
type mapped struct {
	f  *os.File
	b  []byte
	at atomic.Uint64
}

func newMapped(tb testing.TB, dir string) candidate {
	tb.Helper()
	const size, ahead = 256 << 20, 64 << 20
	f := newFile(tb, dir)
	if err := unix.Fallocate(int(f.Fd()), 0, 0, size); err != nil {
		tb.Skip(err)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		tb.Fatal(err)
	}
	if err := unix.Madvise(b[:ahead], unix.MADV_POPULATE_WRITE); err != nil {
		tb.Fatal(err)
	}
	return &mapped{f: f, b: b}
}

// append begins anew where the mapping ends.
func (m *mapped) append(payload []byte) {
	n := frameBytes(len(payload))
	at := m.at.Add(n) - n
	to := m.b[at%uint64(len(m.b)-2*MaxPayload)&^7:]
	copy(to[wordBytes:], payload)
	binary.NativeEndian.PutUint64(to, frameWord(len(payload), checksum(payload)))
}

func (m *mapped) close() {
	_ = unix.Munmap(m.b)
	_ = m.f.Close()
}
