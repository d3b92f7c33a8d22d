package qr

import (
	"bytes"
	"fmt"
)

// SVG draws the code as PNG does, in a picture that is size pixels wide where
// nothing else says how wide it is to be. Its unit is a module.
func (c *Code) SVG(size, margin int) ([]byte, error) {
	side := c.Modules() + 2*margin
	if size < side {
		return nil, ErrTooSmall
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[1]d" viewBox="0 0 %[2]d %[2]d" shape-rendering="crispEdges">`+
		`<rect width="%[2]d" height="%[2]d" fill="#fff"/><path fill="#000" d="`, size, side)
	for y := range c.Modules() {
		for x := 0; x < c.Modules(); x++ {
			if length := c.darkFrom(x, y); length > 0 {
				fmt.Fprintf(&out, "M%d %dh%dv1h-%[3]dz", x+margin, y+margin, length)
				x += length
			}
		}
	}
	out.WriteString(`"/></svg>`)
	return out.Bytes(), nil
}

// darkFrom is how many modules in a row are dark, to the right of a place and at
// it.
func (c *Code) darkFrom(x, y int) int {
	n := 0
	for c.dark(x+n, y) {
		n++
	}
	return n
}
