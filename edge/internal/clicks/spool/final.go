package spool

// Final says that End will not move any more: nothing will be appended, and
// where an older log ends has been read. Before that, End of an older log may
// fall short, where the disk would not let its last segment be read.
func (l *Log) Final() bool {
	if l.ring != nil {
		return l.closed.Load()
	}
	l.End()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.scanned || len(l.segments) == 0
}
