package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"waypost/bench/measure"
)

// report saves one with these figures and returns its path.
func report(t *testing.T, figures ...measure.Figure) string {
	t.Helper()
	r := measure.Report{
		Name: "redirects", Command: "make redirects", Commit: "abc", At: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		Machine: measure.Machine{CPU: "a CPU", Cores: 2}, Figures: figures,
	}
	dir := t.TempDir()
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "redirects.json")
}

func someFigures() []measure.Figure {
	cpu := func(name string, micros float64) measure.Figure {
		return measure.Figure{Name: name, Unit: "redirects", N: 1, Row: "hits/one", Values: []measure.Value{measure.Number("saturation", 1, "/s"), measure.Number("CPU", micros, "µs")}}
	}
	return []measure.Figure{
		{Name: "CPU against", Unit: "redirects", N: 1, Row: "hits/one", Values: []measure.Value{
			measure.Most("of nginx", 0, 1.2, "×").Of([]float64{1, 1.1, 1.3}), measure.Number("of epoll", 2, "×"), measure.Most("of HAProxy", 1.5, 1.1, "×"),
		}},
		cpu("Waypost: a redirect of one code", 10), cpu("A & B: a redirect of one code", 5),
		cpu("Waypost: a redirect of 5000 codes", 11),
		cpu("Waypost: a redirect of one code by wrk, plain", 99),
	}
}

func TestTheReadmeIsMadeBetweenItsMarks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	readme, chart := filepath.Join(dir, "README.md"), filepath.Join(dir, "results.svg")
	if err := os.WriteFile(readme, []byte("before\n"+begins+"old\n"+ends+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-report", report(t, someFigures()...), "-readme", readme, "-chart", chart}
	var first string
	for range 2 {
		if err := run(args, io.Discard); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(readme)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(page)
		}
		if string(page) != first {
			t.Errorf("made again, it is another:\n%s", page)
		}
	}
	for _, want := range []string{
		"before\n" + begins, ends + "after\n",
		"](results.svg)\n",
		"| CPU against | of nginx | 1.1 × (1 to 1.3) | ≤ 1.2 × | met |\n|  | of HAProxy | 1.5 × | ≤ 1.1 × | **missed** |\n",
		"Commit abc, 1 December 2026.",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("the page lacks %q:\n%s", want, first)
		}
	}
	for _, not := range []string{"old\n", "epoll"} {
		if strings.Contains(first, not) {
			t.Errorf("the page has %q:\n%s", not, first)
		}
	}
}

func TestTheReadmeOfTheProjectHasItsMarks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := between(page, "text\n"); err != nil {
		t.Error(err)
	}
}

func TestAPageWithoutItsMarksStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", begins, ends, ends + begins, begins + ends + begins, begins + ends + ends} {
		if got, err := between([]byte(page), "text\n"); !errors.Is(err, errMarks) {
			t.Errorf("%q: got %q, error %v, want errMarks", page, got, err)
		}
	}
}

func TestThePictureHasABarForEachServer(t *testing.T) {
	t.Parallel()
	r, err := measure.Load(report(t, someFigures()...))
	if err != nil {
		t.Fatal(err)
	}
	all := groups(r)
	if len(all) != 2 || len(all[0].bars) != 2 || all[0].bars[0] != (bar{"A & B", 5}) || all[1].work != "5000 codes" {
		t.Fatalf("got groups %+v, want two of one code, the least first, and one of 5000", all)
	}
	picture := draw(all)
	texts := 0
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v:\n%s", err, picture)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "text" {
			texts++
		}
	}
	if want := 2 + 2*3; texts != want { // a heading a group; name and number a bar
		t.Errorf("got %d texts, want %d:\n%s", texts, want, picture)
	}
	if draw(nil) != "" {
		t.Error("a picture of nothing is drawn")
	}
}
