// Package visitor turns what a request says of its sender into the fields of a
// click record, without keeping anything by which the sender could be known.
package visitor
