package visitor

import (
	"testing"

	"waypost/shared/click"
	"waypost/shared/feed"
)

// visit is a browser's request.
func visit() Request {
	return Request{
		Client: berlin, Peer: proxy, Agent: []byte(firefox),
		Referrer: []byte("https://news.example/a/b?c=d"), Language: []byte("de-DE,de;q=0.9,en;q=0.8"),
	}
}

func BenchmarkDescribe(b *testing.B) {
	f := newFacts(b)
	f.Learn([]feed.Salt{salt(today), salt(today + 1)})
	f.countries.file = countryFile(b)
	f.countries.load(b.Context())
	from, r := visit(), click.Record{At: noon}
	b.ReportAllocs()
	for b.Loop() {
		f.Describe(&from, &r)
	}
}

func BenchmarkNewAgent(b *testing.B) {
	reader := newReader(b)
	b.ReportAllocs()
	for b.Loop() {
		reader.read(firefox)
	}
}
