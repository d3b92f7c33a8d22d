// Package click is what edges and origins say to each other about clicks: the
// record of one click, the stretch of many, the sketch of their visitors, and
// the bytes of all three. Pure.
package click
