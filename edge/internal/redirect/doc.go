// Package redirect is the rule by which an edge answers a key: the order of
// the tiers, one fill at a time, and nothing served that is known to be
// changed.
package redirect
