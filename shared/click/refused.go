package click

import "errors"

// ErrRefused reports a stretch that origins do not take, now or later: not that
// none of them was reached, or had time for it.
var ErrRefused = errors.New("click: stretch refused")
