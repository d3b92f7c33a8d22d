package feed

// Verdict is what became of a request for one use of a limited link.
type Verdict uint8

// The verdicts. With UseTaken the entry has the link's target, for this one
// redirect: it must not be kept. With UseNone nothing was asked of a limit: the
// link has none, is absent, disabled, or not in its time, and the entry is judged
// as any other; if it is that of a limited link it still has no target.
const (
	UseTaken Verdict = iota
	UsedUp
	UseNone
)

// Use answers a request for one use of a limited link: what became of it, and
// the entry as of the same moment.
type Use struct {
	Verdict Verdict
	Entry   *Entry
}

// Append appends the answer's bytes: the verdict, then the entry's.
func (u *Use) Append(dst []byte) []byte { return u.Entry.Append(append(dst, byte(u.Verdict))) }

// ParseUse reads what Append wrote. The error is ErrFormat, also for a use that
// was taken of nothing that could lead anywhere.
func ParseUse(b []byte) (*Use, error) {
	if len(b) == 0 || Verdict(b[0]) > UseNone {
		return nil, ErrFormat
	}
	e, err := ParseEntry(b[1:])
	if err != nil {
		return nil, err
	}
	u := &Use{Verdict: Verdict(b[0]), Entry: e}
	if u.Verdict == UseTaken && (e.State != Enabled || e.Target == "") || u.Verdict == UsedUp && e.State == Absent {
		return nil, ErrFormat
	}
	return u, nil
}
