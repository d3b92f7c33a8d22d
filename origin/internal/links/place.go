package links

// Place is where a page of a list by name begins: after a name, or at the list's
// start if it is the zero Place.
type Place struct {
	Started bool
	Name    string
}
