package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"waypost/origin/internal/qr"
	"waypost/shared/link"
)

// The picture that a creation's answer has of the link's QR code.
const (
	plainSize   = 256 // pixels
	plainMargin = 4   // modules, the least that the standard wants
)

// maxDrawings is how many QR codes are drawn at the same time: the largest take
// a processor for some 50 ms.
const maxDrawings = 4

const (
	mediaPNG = "image/png"
	mediaSVG = "image/svg+xml"
)

type qrRequest struct {
	LinkPath
	Format      string `query:"format" enum:"png,svg" default:"png" doc:"PNG, or SVG, which stays sharp at any size"`
	Size        int    `query:"size" default:"256" minimum:"64" maximum:"2048" doc:"Width and height of the picture, in pixels. Each module of the code is a whole number of them in a PNG; what is left over is added to the margin"`
	Margin      int    `query:"margin" default:"4" minimum:"0" maximum:"16" doc:"The least light margin around the code, in modules; the standard wants 4"`
	Level       string `query:"level" enum:"L,M,Q,H" default:"M" doc:"How much of the code may be covered or dirty: L 7 %, M 15 %, Q 25 %, H 30 %, at least"`
	IfNoneMatch string `header:"If-None-Match" doc:"An ETag: 304 if the picture is still that one"`
}

type qrAnswer struct {
	Status       int
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control" doc:"The picture may be kept for an hour, by whoever asked for it"`
	ETag         string `header:"ETag" doc:"The picture's name, for If-None-Match"`
	Body         []byte
}

func (a *API) linkQR(ctx context.Context, in *qrRequest) (*qrAnswer, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	l, err := a.links.Get(ctx, callerOf(ctx), key)
	if err != nil {
		return nil, in.named(err)
	}
	level, _ := qr.ParseLevel(in.Level) // one of the four, by the document
	code, err := qr.New(a.shortURL(l.Key), level)
	if err != nil {
		return nil, err
	}
	draw, media := code.PNG, mediaPNG
	if in.Format == "svg" {
		draw, media = code.SVG, mediaSVG
	}
	picture, err := a.drawn(ctx, func() ([]byte, error) { return draw(in.Size, in.Margin) })
	if errors.Is(err, qr.ErrTooSmall) {
		return nil, faulty([]link.FieldError{{
			Field: "size", Reason: fmt.Sprintf("must be at least %d for this link with this level and margin", code.Modules()+2*in.Margin),
		}})
	}
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(picture)
	out := &qrAnswer{
		Status: http.StatusOK, ContentType: media, CacheControl: "private, max-age=3600",
		ETag: `"` + base64.RawURLEncoding.EncodeToString(hash[:12]) + `"`, Body: picture,
	}
	if ifNoneMatch(in.IfNoneMatch, out.ETag) {
		out.Status, out.Body = http.StatusNotModified, nil
		return out, nil
	}
	answerHeader(ctx).Set("Content-Length", strconv.Itoa(len(picture)))
	return out, nil
}

// drawn draws when it is this picture's turn.
func (a *API) drawn(ctx context.Context, draw func() ([]byte, error)) ([]byte, error) {
	release, err := a.drawings.take(ctx, "QR codes")
	if err != nil {
		return nil, err
	}
	defer release()
	return draw()
}

// QRData is for whoever wants the picture with the link.
type QRData struct {
	QR string `query:"qr" enum:"data" doc:"data: the answer has the link's QR code in qr, a PNG of 256 pixels at level M"`
}

// addTo adds the picture to a link, as a URL that holds it, if it was asked for.
func (q QRData) addTo(ctx context.Context, a *API, l *Link) error {
	if q.QR == "" {
		return nil
	}
	picture, err := a.drawn(ctx, func() ([]byte, error) {
		code, err := qr.New(l.ShortURL, qr.Medium)
		if err != nil {
			return nil, err
		}
		return code.PNG(plainSize, plainMargin)
	})
	if err != nil {
		return err
	}
	l.QR = "data:" + mediaPNG + ";base64," + base64.StdEncoding.EncodeToString(picture)
	return nil
}
