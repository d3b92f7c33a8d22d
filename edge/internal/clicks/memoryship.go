package clicks

import "waypost/shared/click"

// next is what is to be sent of memory, nil if there is nothing. Nothing is
// taken away before answered says that the origin has it.
func (m *memory) next() *parcel {
	m.work.Lock()
	defer m.work.Unlock()
	if m.parcel != nil {
		return m.parcel
	}
	if len(m.ready) == 0 && (m.added == 0 || !m.finish()) {
		return nil
	}
	stretch, err := click.ParseStretch(m.ready[0].stretch)
	if err != nil {
		// Longer than a stretch may be, as no real clicks are.
		m.lost.Add(m.ready[0].clicks)
		m.drop()
		return nil
	}
	stretch.From, stretch.To = m.mark, m.mark+m.ready[0].offsets
	m.parcel = &parcel{
		bytes: stretch.Append(nil), from: stretch.From, to: stretch.To,
		clicks: m.ready[0].clicks, full: len(m.ready) > 1,
	}
	return m.parcel
}

// answered goes on from the origin's mark, and returns how many clicks it has
// got by that.
func (m *memory) answered(mark uint64) (clicks uint64) {
	m.work.Lock()
	defer m.work.Unlock()
	p := m.parcel
	m.mark = mark
	if mark == p.from {
		return 0
	}
	m.parcel = nil
	if mark != p.to {
		return 0 // a database restored from a copy: from there, then
	}
	m.drop()
	return p.clicks
}

// empty takes the clicks out of the first batch, which is sent: what is left of
// it lets the mark pass.
func (m *memory) empty() {
	m.work.Lock()
	defer m.work.Unlock()
	p := m.parcel
	stretch := click.Stretch{Boot: m.boot, Region: m.region, From: p.from, To: p.to}
	m.clicks.Add(-int64(p.clicks)) //nolint:gosec // a count of clicks in memory
	m.ready[0] = batch{stretch.Append(nil), m.ready[0].offsets, 0}
	m.parcel = &parcel{bytes: m.ready[0].stretch, from: p.from, to: p.to, full: p.full}
}

// drop forgets the first batch.
func (m *memory) drop() {
	m.clicks.Add(-int64(m.ready[0].clicks)) //nolint:gosec // a count of clicks in memory
	m.ready = m.ready[1:]
}
