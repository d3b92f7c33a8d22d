package follow

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"waypost/shared/feed"
)

var errDisk = errors.New("the disk fails")

// platter is a disk in memory that knows what would be left if the machine
// stopped: a file's content before Sync may be there or not, and so may a
// rename before syncDir.
type platter struct {
	left  int // steps until one fails; a byte written is a step
	names map[string]*inode
	kept  map[string]*inode // names that are sure to be there
}

type inode struct {
	p      *platter
	data   []byte
	synced int // bytes that are sure to be there
}

func (p *platter) step() error {
	if p.left == 0 {
		return errDisk
	}
	p.left--
	return nil
}

func (p *platter) create(path string) (file, error) {
	if err := p.step(); err != nil {
		return nil, err
	}
	node := &inode{p: p}
	p.names[filepath.Base(path)] = node
	return node, nil
}

func (p *platter) rename(from, to string) error {
	if err := p.step(); err != nil {
		return err
	}
	p.names[filepath.Base(to)] = p.names[filepath.Base(from)]
	delete(p.names, filepath.Base(from))
	return nil
}

func (p *platter) syncDir(string) error {
	if err := p.step(); err != nil {
		return err
	}
	p.kept = maps.Clone(p.names)
	return nil
}

func (n *inode) Write(b []byte) (int, error) {
	for i := range b {
		if err := n.p.step(); err != nil {
			return i, err
		}
		n.data = append(n.data, b[i])
	}
	return len(b), nil
}

func (n *inode) Sync() error {
	if err := n.p.step(); err != nil {
		return err
	}
	n.synced = len(n.data)
	return nil
}

func (n *inode) Close() error { return n.p.step() }

// images are the contents that the saved file may have after a stop now; nil
// stands for no file.
func (p *platter) images() (all [][]byte) {
	for _, names := range []map[string]*inode{p.kept, p.names} {
		node := names[stateFile]
		if node == nil {
			all = append(all, nil)
			continue
		}
		for _, n := range []int{node.synced, (node.synced + len(node.data)) / 2, len(node.data)} {
			all = append(all, node.data[:n])
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) })
}

// tableAt is a small table with all shards at a position.
func tableAt(epoch, head uint64) *feed.Table {
	table := feed.NewTable(1, 7)
	for shard := range feed.AllShards {
		table.Reset(shard, epoch, head)
	}
	return table
}

func configAt(head uint64) func() *feed.Config {
	return func() *feed.Config { return &feed.Config{Epoch: 1, Seq: head} }
}

// savedAt is what is saved of such a table.
func savedAt(head uint64) []byte { return tableAt(1, head).Append(nil, configAt(head), func() {}) }

// saveAt saves such a table.
func saveAt(s *State, head uint64) error {
	s.take(tableAt(1, head), configAt(head))
	return s.save()
}

func openState(t *testing.T, dir string) *State {
	t.Helper()
	s, err := OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

// loaded is the position that a file with this content brings; 0 where there is
// none.
func loaded(t *testing.T, s *State, content []byte) uint64 {
	t.Helper()
	path := filepath.Join(s.dir, stateFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if content != nil {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := s.Load(1)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(content), err)
	}
	if saved == nil {
		return 0
	}
	_, applied, _ := saved.Restore().Position(3)
	return applied
}

func TestASaveThatFailsOrIsCutShortLeavesTheOldOrTheNew(t *testing.T) {
	t.Parallel()
	for _, old := range []uint64{0, 4} { // 0: nothing was saved before
		steps, whole := 0, false
		s, seen := openState(t, t.TempDir()), make(map[string]uint64)
		position := func(image []byte) uint64 {
			if _, ok := seen[string(image)]; !ok {
				seen[string(image)] = loaded(t, s, image)
			}
			return seen[string(image)]
		}
		for ; !whole; steps++ {
			p := &platter{left: -1, names: map[string]*inode{}, kept: map[string]*inode{}}
			s.disk = p
			if old != 0 {
				if err := saveAt(s, old); err != nil {
					t.Fatal(err)
				}
			}
			p.left = steps
			err := saveAt(s, 9)
			whole = err == nil
			if !whole && !errors.Is(err, errDisk) {
				t.Fatalf("step %d: got %v, want %v", steps, err, errDisk)
			}
			for _, image := range p.images() {
				if got := position(image); got != 9 && (whole || got != old) {
					t.Errorf("stopped after step %d, saved %v: got position %d", steps, whole, got)
				}
			}
			p.left = -1
			if err := saveAt(s, 10); err != nil {
				t.Fatalf("step %d: the next save: %v", steps, err)
			}
			for _, image := range p.images() {
				if got := position(image); got != 10 {
					t.Errorf("step %d: after the next save: got position %d", steps, got)
				}
			}
		}
		if least := len(savedAt(9)) + 5; steps < least {
			t.Errorf("got %d steps, want one for each byte and five more, %d", steps, least)
		}
	}
}

func TestADamagedFileIsAsNone(t *testing.T) {
	t.Parallel()
	s := openState(t, t.TempDir())
	path := filepath.Join(s.dir, stateFile)
	whole := savedAt(9)
	try := func(what string, content []byte, slots int) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if saved, err := s.Load(slots); saved != nil || !errors.Is(err, feed.ErrFormat) {
			t.Errorf("%s: got %v, %v, want none and ErrFormat", what, saved, err)
		}
	}
	for i := range whole {
		try("cut short", whole[:i], 1)
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x10
		try("one bit flipped", damaged, 1)
	}
	try("another size", whole, 2)
	try("overlong", append(bytes.Clone(whole), 0), 1)
	try("no config for its position", tableAt(1, 9).Append(nil, func() *feed.Config { return nil }, func() {}), 1)
	try("an older config than its position", tableAt(1, 9).Append(nil, configAt(8), func() {}), 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if saved, err := s.Load(1); saved != nil || err != nil {
		t.Errorf("no file: got %v, %v, want neither", saved, err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if saved, err := s.Load(1); saved != nil || err == nil {
		t.Errorf("unreadable: got %v, %v, want an error", saved, err)
	}
}

func TestAFolderIsForOneProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "for", "it")
	first := openState(t, dir)
	if s, err := OpenState(dir); s != nil || !errors.Is(err, errInUse) {
		t.Fatalf("the second: got %v, %v, want %v", s, err, errInUse)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	openState(t, dir)
}

func TestAFolderThatCannotBeMadeIsAnError(t *testing.T) {
	t.Parallel()
	occupied := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(occupied, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := OpenState(occupied); s != nil || err == nil {
		t.Errorf("got %v, %v, want an error", s, err)
	}
}
