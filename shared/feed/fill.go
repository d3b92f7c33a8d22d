package feed

// Fill is what a request asks the origin for: an entry of this epoch that is
// known exact at MinSeq or later.
type Fill struct {
	Epoch  uint64
	MinSeq uint64
}

// Fill is what a request with this view has to ask for. MinSeq is the highest
// of the floors, since the kind of the answer is not known yet.
func (v *View) Fill() Fill { return Fill{Epoch: v.Epoch, MinSeq: v.MinSeq()} }

// MayJoin reports whether a request that has to ask for f may wait for a fill
// of the same key that was sent before: whatever answers that one is new enough
// for this request as well. One with a lower MinSeq could be answered from
// before what the request knows of, again and again.
func (f Fill) MayJoin(sent Fill) bool { return sent.Epoch == f.Epoch && sent.MinSeq >= f.MinSeq }

// AnsweredBy reports whether e, of the key that was asked for, answers the fill,
// wherever it comes from: the origin, a fill that another origin made, or the
// feed.
func (f Fill) AnsweredBy(e *Entry) bool { return e.Epoch == f.Epoch && e.AsOf >= f.MinSeq }
