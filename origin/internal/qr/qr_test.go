package qr_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"waypost/origin/internal/qr"
)

// decode reads a code with a decoder that shares nothing with what drew it.
func decode(t *testing.T, img image.Image) string {
	t.Helper()
	bits, err := gozxing.NewBinaryBitmapFromImage(img)
	if err != nil {
		t.Fatalf("bitmap: %v", err)
	}
	// The codes are upright and undistorted, as a file is. Only with that hint does
	// the decoder read one without a margin.
	found, err := qrcode.NewQRCodeReader().Decode(bits, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return found.GetText()
}

// rasterise draws the one kind of SVG that there is here, four pixels a unit.
func rasterise(t *testing.T, svg []byte, size int) image.Image {
	t.Helper()
	var doc struct {
		Width   string `xml:"width,attr"`
		Height  string `xml:"height,attr"`
		ViewBox string `xml:"viewBox,attr"`
		Path    struct {
			D string `xml:"d,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal(svg, &doc); err != nil {
		t.Fatalf("svg: %v\n%s", err, svg)
	}
	var side int
	if _, err := fmt.Sscanf(doc.ViewBox, "0 0 %d", &side); err != nil || doc.Width != strconv.Itoa(size) || doc.Height != doc.Width {
		t.Fatalf("a view box %q of %s by %s pixels, want %d: %v", doc.ViewBox, doc.Width, doc.Height, size, err)
	}
	const scale = 4
	img := image.NewGray(image.Rect(0, 0, side*scale, side*scale))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	for run := range strings.SplitSeq(strings.TrimSuffix(doc.Path.D, "z"), "z") {
		var x, y, length, back int
		if _, err := fmt.Sscanf(run, "M%d %dh%dv1h-%d", &x, &y, &length, &back); err != nil || back != length {
			t.Fatalf("path %q: %v", run, err)
		}
		draw.Draw(img, image.Rect(x*scale, y*scale, (x+length)*scale, (y+1)*scale), image.Black, image.Point{}, draw.Src)
	}
	return img
}

func TestCodesSayTheirText(t *testing.T) {
	t.Parallel()
	alias := (&url.URL{Scheme: "https", Host: "go.example", Path: "/" + strings.Repeat("京", 64)}).String()
	for _, text := range []string{"https://wp.example/q0V", "http://127.0.0.1:8080/caf%C3%A9", "HTTPS://WP.EXAMPLE/123", "https://" + strings.Repeat("a", 250) + ".example/x", alias} {
		for _, level := range []string{"L", "M", "Q", "H"} {
			for _, margin := range []int{0, 1, 4, 16} {
				size := 256
				if len(text) > 100 {
					size = 512
				}
				parsed, ok := qr.ParseLevel(level)
				if !ok {
					t.Fatalf("level %s is not known", level)
				}
				code, err := qr.New(text, parsed)
				if err != nil {
					t.Fatalf("New: %v", err)
				}
				picture, err := code.PNG(size, margin)
				if err != nil {
					t.Fatalf("PNG: %v", err)
				}
				img, err := png.Decode(bytes.NewReader(picture))
				if err != nil || img.Bounds() != image.Rect(0, 0, size, size) {
					t.Fatalf("PNG: %v of %v, want %d by %d", err, img, size, size)
				}
				if got := decode(t, img); got != text {
					t.Errorf("PNG at level %s, margin %d: %q, want %q", level, margin, got, text)
				}
				drawing, err := code.SVG(size, margin)
				if err != nil {
					t.Fatalf("SVG: %v", err)
				}
				if got := decode(t, rasterise(t, drawing, size)); got != text {
					t.Errorf("SVG at level %s, margin %d: %q, want %q", level, margin, got, text)
				}
			}
		}
	}
}

// TestAHigherLevelStandsMoreDirt paints over a corner of the data.
func TestAHigherLevelStandsMoreDirt(t *testing.T) {
	t.Parallel()
	const text = "https://wp.example/a-rather-long-alias-so-that-the-code-is-large-enough"
	survives := func(level qr.Level) bool {
		code, err := qr.New(text, level)
		if err != nil {
			t.Fatalf("New: %v", err)
		}
		picture, err := code.PNG(400, 4)
		if err != nil {
			t.Fatalf("PNG: %v", err)
		}
		img, err := png.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatalf("PNG: %v", err)
		}
		dirty := image.NewGray(img.Bounds())
		draw.Draw(dirty, img.Bounds(), img, image.Point{}, draw.Src)
		draw.Draw(dirty, image.Rect(165, 165, 265, 265), image.NewUniform(color.Gray{Y: 0xff}), image.Point{}, draw.Src)
		bits, err := gozxing.NewBinaryBitmapFromImage(dirty)
		if err != nil {
			t.Fatalf("bitmap: %v", err)
		}
		found, err := qrcode.NewQRCodeReader().Decode(bits, nil)
		return err == nil && found.GetText() == text
	}
	if survives(qr.Low) {
		t.Error("a code at the lowest level survived dirt that is too much for it")
	}
	if !survives(qr.High) {
		t.Error("a code at the highest level did not survive the dirt that it is for")
	}
}

func TestAPictureNeedsAPixelForEachModule(t *testing.T) {
	t.Parallel()
	code, err := qr.New("https://wp.example/q0V", qr.Medium)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	for _, margin := range []int{0, 4} {
		enough := code.Modules() + 2*margin
		for _, draw := range []func(size, margin int) ([]byte, error){code.PNG, code.SVG} {
			if _, err := draw(enough, margin); err != nil {
				t.Errorf("%d pixels, margin %d: %v", enough, margin, err)
			}
			if _, err := draw(enough-1, margin); !errors.Is(err, qr.ErrTooSmall) {
				t.Errorf("%d pixels, margin %d: %v, want ErrTooSmall", enough-1, margin, err)
			}
		}
	}
}

func TestWhatFitsInNoCodeIsRefused(t *testing.T) {
	t.Parallel()
	for length, fits := range map[int]bool{1273: true, 1274: false} {
		if _, err := qr.New(strings.Repeat("a", length), qr.High); (err == nil) != fits {
			t.Errorf("%d bytes at the highest level: %v, want that they fit: %v", length, err, fits)
		}
	}
}

func TestLevelsAreOneLetter(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"", "l", "X", "LM"} {
		if level, ok := qr.ParseLevel(letter); ok {
			t.Errorf("ParseLevel(%q) = %v, want none", letter, level)
		}
	}
}
