package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"image"
	_ "image/png"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
)

// says reads a PNG of a QR code.
func says(t *testing.T, picture []byte) (text string, size int) {
	t.Helper()
	img, format, err := image.Decode(bytes.NewReader(picture))
	if err != nil || format != "png" {
		t.Fatalf("picture: %q, %v", format, err)
	}
	bits, err := gozxing.NewBinaryBitmapFromImage(img)
	if err != nil {
		t.Fatalf("bitmap: %v", err)
	}
	found, err := qrcode.NewQRCodeReader().Decode(bits, nil)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return found.GetText(), img.Bounds().Dx()
}

func TestTheQRCodeOfALinkSaysItsShortURL(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, tt := range []struct{ alias, domain, want string }{
		{"plain", "", "https://wp.example/plain"},
		{"café", "", "https://wp.example/caf%C3%A9"},
		{"北京~_.-", domain, "https://" + domain + "/%E5%8C%97%E4%BA%AC~_.-"},
	} {
		a := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "`+tt.alias+`", "domain": "`+tt.domain+`"}`)
		path, _ := a.json["qr_url"].(string)
		if a.json["short_url"] != tt.want || a.json["qr"] != nil {
			t.Errorf("short_url %v, qr %v, want %s and none", a.json["short_url"], a.json["qr"], tt.want)
		}
		a = s.want(200, "GET", path, "")
		if text, size := says(t, a.Body.Bytes()); text != tt.want || size != 256 {
			t.Errorf("%s: %q in %d pixels, want %q in 256", path, text, size, tt.want)
		}
		for name, want := range map[string]string{"Content-Type": "image/png", "Cache-Control": "private, max-age=3600"} {
			if got := a.Header().Get(name); got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
		more := "?"
		if strings.Contains(path, "?") {
			more = "&"
		}
		for _, level := range []string{"L", "M", "Q", "H"} {
			a = s.want(200, "GET", path+more+"size=600&margin=1&level="+level, "")
			if text, size := says(t, a.Body.Bytes()); text != tt.want || size != 600 {
				t.Errorf("level %s: %q in %d pixels, want %q in 600", level, text, size, tt.want)
			}
		}
		a = s.want(200, "GET", path+more+"format=svg&size=100", "")
		var svg struct {
			XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
			Width   string   `xml:"width,attr"`
		}
		if err := xml.Unmarshal(a.Body.Bytes(), &svg); err != nil || svg.Width != "100" || a.Header().Get("Content-Type") != "image/svg+xml" {
			t.Errorf("SVG of %s: %v, width %q, %q", path, err, svg.Width, a.Header().Get("Content-Type"))
		}
	}
}

func TestAQRCodeIsNotSentTwice(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.link("k", "")
	first := s.want(200, "GET", "/api/v1/links/k/qr", "")
	tag := first.Header().Get("ETag")
	for _, held := range []string{tag, "*", `"x", W/` + tag} {
		a := s.want(304, "GET", "/api/v1/links/k/qr", "", header("If-None-Match", held))
		if a.Body.Len() != 0 || a.Header().Get("ETag") != tag {
			t.Errorf("If-None-Match %s: %d bytes, ETag %q, want none and %q", held, a.Body.Len(), a.Header().Get("ETag"), tag)
		}
	}
	for _, other := range []string{"?size=300", "?level=H", "?margin=0", "?format=svg"} {
		if a := s.want(200, "GET", "/api/v1/links/k/qr"+other, "", header("If-None-Match", tag)); a.Header().Get("ETag") == tag {
			t.Errorf("%s: the ETag is that of another picture", other)
		}
	}
	head := s.want(200, "HEAD", "/api/v1/links/k/qr", "")
	if head.Header().Get("Content-Length") != strconv.Itoa(first.Body.Len()) || head.Header().Get("ETag") != tag || head.Header().Get("Content-Type") != "image/png" {
		t.Errorf("HEAD of %d bytes: header %v", first.Body.Len(), head.Header())
	}
}

func TestQRCodesThatCannotBeDrawnAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.link("k", "")
	long := strings.Repeat("京", 64)
	s.link(long, "")
	for _, tt := range []struct {
		path string
		want []string
	}{
		{"k/qr?format=gif", []string{"format"}},
		{"k/qr?size=63", []string{"size"}},
		{"k/qr?size=2049", []string{"size"}},
		{"k/qr?size=big", []string{"size"}},
		{"k/qr?margin=-1&level=X", []string{"level", "margin"}},
		{"k/qr?margin=17", []string{"margin"}},
		{"k/qr?colour=red", []string{"colour"}},
		{url.PathEscape(long) + "/qr?size=64", []string{"size"}},
		{url.PathEscape(long) + "/qr?size=64&format=svg", []string{"size"}},
	} {
		if got := s.want(422, "GET", "/api/v1/links/"+tt.path, "").fields(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: fields %q, want %q", tt.path, got, tt.want)
		}
	}
	s.want(404, "GET", "/api/v1/links/none/qr", "")
	s.link("hers", "ann")
	s.want(404, "GET", "/api/v1/links/hers/qr", "", bearer(s.key("ben", "links:read")))
	s.want(200, "GET", "/api/v1/links/hers/qr", "", bearer(s.key("ann", "links:read")))
	s.want(403, "GET", "/api/v1/links/hers/qr", "", bearer(s.key("ann", "links:write")))
}

func TestACreationAnswersWithTheQRCodeIfAsked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := s.want(201, "POST", "/api/v1/links?qr=data", `{"target": "https://example.com/", "alias": "k"}`)
	data, _ := a.json["qr"].(string)
	encoded, ok := strings.CutPrefix(data, "data:image/png;base64,")
	picture, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		t.Fatalf("qr = %.40q, %v, want a PNG in a data URL", data, err)
	}
	if text, size := says(t, picture); text != "https://wp.example/k" || size != 256 {
		t.Errorf("it says %q in %d pixels", text, size)
	}
	if plain := s.want(http.StatusOK, "GET", "/api/v1/links/k/qr", ""); !bytes.Equal(plain.Body.Bytes(), picture) {
		t.Error("it is another picture than the one at qr_url")
	}
	if got := s.want(422, "POST", "/api/v1/links?qr=png", `{"target": "https://example.com/", "alias": "l"}`); !slices.Equal(got.fields(), []string{"qr"}) ||
		!strings.Contains(got.Body.String(), `"must be data"`) {
		t.Errorf("qr=png: %s", got.Body)
	}
	if got := s.want(422, "POST", "/api/v1/links/bulk?qr=data", `{"items": [{"target": "https://example.com/"}]}`).fields(); !slices.Equal(got, []string{"qr"}) {
		t.Errorf("qr of a bulk: fields %q, want qr", got)
	}
}
