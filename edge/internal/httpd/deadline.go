package httpd

import "time"

// deadlineSlack is how late a deadline may strike.
const deadlineSlack = time.Second

// deadline is one of a connection's two. fasthttp sets it anew three times a
// request, and nearly always the call that it would end does not wait; to set it
// for good takes a lock and a timer. So a new one is only noted, and set where
// the call begins, if the one that is set would strike too early, or later than
// deadlineSlack: about once a second. For one goroutine at a time.
type deadline struct {
	wanted time.Time // zero: none
	armed  time.Time // as it is set
}

// arm makes the wanted deadline hold for a call that begins now.
func (d *deadline) arm(set func(time.Time) error) error { return d.armAt(d.wanted, set) }

// armAt is arm for another deadline than the wanted one.
func (d *deadline) armAt(at time.Time, set func(time.Time) error) error {
	if at.IsZero() {
		if d.armed.IsZero() {
			return nil
		}
		d.armed = time.Time{}
		return set(d.armed)
	}
	if late := d.armed.Sub(at); !d.armed.IsZero() && late >= 0 && late <= deadlineSlack {
		return nil
	}
	d.armed = at.Add(deadlineSlack)
	return set(d.armed)
}

// over says whether the wanted deadline has passed.
func (d *deadline) over(now time.Time) bool { return !d.wanted.IsZero() && !now.Before(d.wanted) }

// SetReadDeadline implements net.Conn. It is for the goroutine that reads.
func (c *headConn) SetReadDeadline(t time.Time) error {
	c.reading.wanted = t
	return nil
}

// SetWriteDeadline implements net.Conn. It is for the goroutine that writes.
func (c *headConn) SetWriteDeadline(t time.Time) error {
	c.writing.wanted = t
	return nil
}

// SetDeadline implements net.Conn.
func (c *headConn) SetDeadline(t time.Time) error {
	c.reading.wanted, c.writing.wanted = t, t
	return nil
}

// Write implements io.Writer.
func (c *headConn) Write(p []byte) (int, error) {
	if err := c.writing.arm(c.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
