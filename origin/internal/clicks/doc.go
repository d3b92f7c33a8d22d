// Package clicks holds what can be learned of clicks and by whom: statistics of
// links, lists, and the live views that are open at this origin.
package clicks
