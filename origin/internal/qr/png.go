package qr

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
)

// PNG draws the code, dark on light, in a square of size pixels, with a margin
// of at least so many modules around it; what does not divide by whole pixels is
// added to the margin. The error is ErrTooSmall where a module has no pixel.
func (c *Code) PNG(size, margin int) ([]byte, error) {
	scale := size / (c.Modules() + 2*margin)
	if scale < 1 {
		return nil, ErrTooSmall
	}
	p := picture{
		code: c, size: size, scale: scale, edge: (size - scale*c.Modules()) / 2,
		palette: color.Palette{color.Gray{Y: 0xff}, color.Gray{}},
	}
	var out bytes.Buffer
	if err := png.Encode(&out, &p); err != nil {
		return nil, fmt.Errorf("qr: %w", err)
	}
	return out.Bytes(), nil
}

// picture is a code as an image of two colours. It has no pixels of its own: they
// are asked for one by one, and a large picture takes no more memory than a small
// one.
type picture struct {
	code              *Code
	size, scale, edge int // pixels: of the picture, of a module, to the left of the code and above it
	palette           color.Palette
}

// ColorModel is a palette of light and dark.
func (p *picture) ColorModel() color.Model { return p.palette }

// Bounds is the square of the picture.
func (p *picture) Bounds() image.Rectangle { return image.Rect(0, 0, p.size, p.size) }

// At is the colour of a pixel.
func (p *picture) At(x, y int) color.Color { return p.palette[p.ColorIndexAt(x, y)] }

// ColorIndexAt is 1 where a pixel is dark. It makes this an image.PalettedImage,
// which PNG keeps in one bit a pixel.
func (p *picture) ColorIndexAt(x, y int) uint8 {
	if x < p.edge || y < p.edge || !p.code.dark((x-p.edge)/p.scale, (y-p.edge)/p.scale) {
		return 0
	}
	return 1
}
