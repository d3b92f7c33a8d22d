package links

import "waypost/shared/link"

// faults collects every refused field of one input.
type faults []link.FieldError

func (f *faults) add(field, reason string) {
	*f = append(*f, link.FieldError{Field: field, Reason: reason})
}

// err is nil, or a *link.InvalidError with all faults.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return &link.InvalidError{Fields: f}
}
