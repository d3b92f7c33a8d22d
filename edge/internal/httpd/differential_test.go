package httpd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"waypost/edge/internal/redirect"
	"waypost/edge/internal/visitor"
	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// denied is a client that the limiter of a crowded stage has nothing for.
const denied = "192.0.2.66"

// crowded is a counting stage for many connections at once. A client is who the
// last line of X-Forwarded-For says, and clicks tell them apart.
func crowded(t *testing.T) (*stage, *ledger) {
	t.Helper()
	s, l := counting(t)
	for _, code := range []string{"abc", "path", "query"} {
		body := liveBody()
		body.Target = "https://example.com/" + code
		switch code {
		case "path":
			body.Suffix = link.SuffixAppend
		case "query":
			body.Query = link.QueryAppend
		}
		key := link.Key{Code: code}
		s.entries[key] = &feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: key, Body: body}
	}
	s.Resolve = func(_ context.Context, domain string, code []byte, _ uint64) (redirect.Answer, error) {
		key := link.Key{Domain: domain, Code: string(code)}
		e := s.entries[key]
		if e == nil {
			e = &feed.Entry{Key: key}
		}
		return redirect.Answer{Entry: e, Tier: redirect.L1}, nil
	}
	s.Client = func(peer netip.Addr, lines [][]byte) netip.Addr {
		if len(lines) == 0 {
			return peer
		}
		client, err := netip.ParseAddr(string(lines[len(lines)-1]))
		if err != nil {
			return peer
		}
		return client
	}
	s.Admit = func(_ context.Context, client netip.Addr) (int, bool) {
		if client.String() == denied {
			return 3, false
		}
		return 0, true
	}
	s.Describe = func(from *visitor.Request, r *click.Record) {
		r.Visitor = uint64(len(from.Agent)) + uint64(len(from.Referrer))<<8
		if from.Client.Is4() {
			r.Visitor += uint64(from.Client.As4()[3]) << 16
		}
	}
	return s, l
}

// requests makes some for one stream: plain ones for the most part, and what might
// make two readers of one stream differ over where a request ends.
func requests(random *rand.Rand) [][]byte {
	const host = " HTTP/1.1\r\nHost: short.example\r\n"
	hidden := "GET /abc" + asked
	length := "Content-Length: " + strconv.Itoa(len(hidden)) + "\r\n\r\n"
	chunked := "Transfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(int64(len(hidden)), 16) + "\r\n" + hidden + "\r\n0\r\n\r\n"
	plain := []string{
		hidden, hidden, "GET /query?a=b&c" + asked, "GET /path/x//y" + asked, "GET /absent" + asked, "GET /abc/x" + asked,
		"GET /abc" + host + "Connection: keep-alive\r\nReferer: https://news.example/\r\nCookie: a=b\r\n\r\n",
		"GET /abc" + host + "X-Forwarded-For: 192.0.2.7\r\n\r\n",
		"GET /abc" + host + "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-For: " + denied + "\r\n\r\n",
		"GET /absent" + host + "X-Forwarded-For: " + denied + "\r\n\r\n",
		"GET /absent" + host + "X-Note: " + hidden,
		strings.Repeat(hidden, 1+random.IntN(300)),
		"GET /%zz" + asked, "GET /" + asked, "GET /abc#x?y" + asked,
		"GET /abc HTTP/1.1\r\nHost: short.example:\r\n\r\n", "GET /abc HTTP/1.1\r\nHost: go..example:99999\r\n\r\n",
	}
	odd := []string{
		"HEAD /abc" + asked, "HEAD /abc" + host + length + hidden,
		"POST /abc" + host + length + hidden, "POST /abc" + host + "Expect: 100-continue\r\n" + length + hidden,
		"GET /abc" + host + length + hidden, "GET /absent" + host + length + hidden, "GET /abc" + host + chunked, "POST /abc" + host + chunked,
		"GET /abc" + host + "Expect: 100-continue\r\n" + length + hidden,
		"GET /abc" + host + "Content-Length: 5\r\n" + chunked,
		"GET /abc" + host + "Content_Length: 5\r\n\r\n", "GET /abc" + host + "Content-Length : 5\r\n\r\n" + hidden,
		"GET /abc" + host + "Content-Length: +5\r\n\r\n" + hidden, "GET /abc" + host + "Transfer-Encoding: xchunked\r\n\r\n" + hidden,
		"GET /abc" + host + "Transfer-Encoding: identity\r\n\r\n" + hidden,
		"GET /abc" + host + "A: b\r\n Content-Length: 90\r\n\r\n" + hidden,
		"GET /abc HTTP/1.1\nHost: short.example\n\n" + hidden, "GET /abc HTTP/1.1\r\nHost: short.example\n\r\n" + hidden,
		"GET /abc" + host + "A: b\n\nGET /absent" + asked, "GET /abc" + host + "A: b\rC: d\r\n\r\n", "GET /abc" + host + "A: \x00\r\n\r\n",
		"\r\n" + hidden, "\r\n\r\n\r\n" + hidden, "\n" + hidden, " " + hidden, "GET  /abc" + asked, "get /abc" + asked,
		"GET /abc" + host + "A: " + strings.Repeat("b", maxHead) + "\r\n\r\n", "GET /abc" + host + "A: " + strings.Repeat("b", maxHead-100) + "\r\n\r\n",
		"GET /" + strings.Repeat("b", maxPath+1) + asked,
		"GET /abc\r\n", "GET /abc\r\n\r\n", "GET /abc HTTP/1.0\r\n\r\n", "GET /abc HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /abc HTTP/2.0\r\n\r\n",
		"CONNECT short.example:80" + asked, "OPTIONS *" + asked, "GET http://short.example/abc" + asked, "GET //abc" + asked,
		"GET /abc" + host + "Connection: upgrade\r\nUpgrade: h2c\r\n\r\n", "GET /abc" + host + "Upgrade: websocket\r\n\r\n",
		"GET /abc" + host + "Connection: close\r\n\r\n", "GET /abc" + host + "Host: short.example\r\n\r\n",
		"GET /abc HTTP/1.1\r\nHost: short.example:1:2\r\n\r\n", "GET /abc HTTP/1.1\r\nHost: \r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		hidden[:random.IntN(len(hidden))],
	}
	var all [][]byte
	for range 1 + random.IntN(12) {
		from := plain
		if random.IntN(4) == 0 {
			from = odd
		}
		all = append(all, []byte(from[random.IntN(len(from))]))
	}
	return all
}

// pieces cuts requests as they may arrive: each by itself, some at once, or anywhere,
// which leaves few to be answered directly.
func pieces(random *rand.Rand, requests [][]byte) (cut [][]byte) {
	if random.IntN(4) > 0 {
		most := 1 + random.IntN(len(requests))
		for rest := requests; len(rest) > 0; {
			n := 1 + random.IntN(min(most, len(rest)))
			cut = append(cut, bytes.Join(rest[:n], nil))
			rest = rest[n:]
		}
		return cut
	}
	most := 1 + random.IntN(400)
	for rest := bytes.Join(requests, nil); len(rest) > 0; {
		n := min(len(rest), 1+random.IntN(most))
		if len(cut) >= 30 {
			n = len(rest)
		}
		cut = append(cut, rest[:n])
		rest = rest[n:]
	}
	return cut
}

// told sends the pieces of a stream, and ends its side when nothing more comes back.
// It returns what came, which is not the whole if the server closed the connection
// with requests unread: then the kernel drops what it has not sent.
func (a *answering) told(stream [][]byte, pause time.Duration) (answers string, whole bool, err error) {
	conn, err := net.Dial("tcp", a.addr)
	if err != nil {
		return "", false, err
	}
	defer conn.Close() //nolint:errcheck // has nothing to lose
	came := make(chan struct{}, 1)
	var all bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		buf := make([]byte, 8<<10)
		for {
			n, err := conn.Read(buf)
			all.Write(buf[:n])
			if err != nil {
				ended <- err
				return
			}
			select {
			case came <- struct{}{}:
			default:
			}
		}
	}()
	const rest = 100 * time.Millisecond
	for i, piece := range stream {
		if i > 0 && pause > 0 {
			select {
			case <-came:
			case <-time.After(pause):
			}
		}
		if _, err = conn.Write(piece); err != nil {
			break // it was closed; that it was reset may be told to the one who writes alone
		}
	}
	for quiet := time.NewTimer(rest); ; quiet.Reset(rest) {
		select {
		case <-came:
			continue
		case end := <-ended:
			whole = err == nil && end == io.EOF //nolint:errorlint // net's own
		case <-quiet.C:
			err = errors.Join(err, conn.(*net.TCPConn).CloseWrite()) //nolint:forcetypeassert // of TCP
			end := <-ended
			whole = err == nil && end == io.EOF //nolint:errorlint // net's own
		}
		return dateLine.ReplaceAllString(all.String(), "Date\r"), whole, nil
	}
}

// parting is where two texts differ: how long they are up to there, and what
// follows.
func parting(a, b string) (same int, restA, restB string) {
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return same, a[same:min(len(a), same+300)], b[same:min(len(b), same+300)]
}

func TestAnyStreamIsAnsweredAsWithoutDirectAnswers(t *testing.T) {
	t.Parallel()
	const streams = 120
	var servers [2]*answering
	var ledgers [2]*ledger
	for i := range servers {
		var s *stage
		s, ledgers[i] = crowded(t)
		servers[i] = s.answer(t, i == 1)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var all sync.WaitGroup
	places := make(chan struct{}, 60)
	for n := range uint64(streams) {
		random := rand.New(rand.NewPCG(seed, n))
		stream := pieces(random, requests(random))
		pause := time.Duration(random.IntN(3)) * time.Millisecond
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			var got [2]string
			var whole [2]bool
			for i, a := range servers {
				var err error
				got[i], whole[i], err = a.told(stream, pause)
				if err != nil {
					t.Errorf("stream %d: %v", n, err)
				}
			}
			same, direct, other := parting(got[1], got[0])
			if (direct != "" || whole[1]) && other != "" || direct != "" && whole[0] {
				t.Errorf("stream %d of %d pieces: after %d bytes of answers: got %q, want %q", n, len(stream), same, direct, other)
			}
		})
	}
	all.Wait()
	for i, a := range servers {
		if err := a.stop(); err != nil {
			t.Errorf("direct %v: %v", i == 1, err)
		}
	}
	if got, want := servers[1].asks.Load(), servers[0].asks.Load(); got != want {
		t.Errorf("the limiter was asked %d times, want %d", got, want)
	}
	if got, all := servers[1].resolved.Load(), servers[0].resolved.Load(); got >= all {
		t.Errorf("%d of %d requests were answered directly", all-got, all)
	}
	counts := [2]map[click.Record]int{{}, {}}
	for i, l := range ledgers {
		for _, c := range l.clicks {
			counts[i][c]++
		}
		if n := len(l.canceled); n > 0 {
			t.Errorf("direct %v: %d clicks were taken back", i == 1, n)
		}
	}
	for _, both := range counts {
		for c := range both {
			if got, want := counts[1][c], counts[0][c]; got != want {
				t.Errorf("got %d clicks %+v, want %d", got, c, want)
			}
		}
	}
}
