package link

import "testing"

func TestValidStatus(t *testing.T) {
	t.Parallel()
	want := map[int]bool{301: true, 302: true, 307: true, 308: true}
	for status := range 600 {
		if got := ValidStatus(status); got != want[status] {
			t.Errorf("ValidStatus(%d) = %t, want %t", status, got, want[status])
		}
	}
}

func TestPolicyNamesAreTheirOwnInverse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"off", "append", "request", "target", "OFF", "", "unknown"} {
		q, ok := ParseQuery(name)
		if want := name != "OFF" && name != "" && name != "unknown"; ok != want || ok && q.String() != name {
			t.Errorf("ParseQuery(%q) = %v, %t, want ok %t", name, q, ok, want)
		}
		s, ok := ParseSuffix(name)
		if want := name == "off" || name == "append"; ok != want || ok && s.String() != name {
			t.Errorf("ParseSuffix(%q) = %v, %t, want ok %t", name, s, ok, want)
		}
	}
	for _, name := range []string{"available", "strict", "Strict", ""} {
		c, ok := ParseClass(name)
		if want := name == "available" || name == "strict"; ok != want || ok && c.String() != name {
			t.Errorf("ParseClass(%q) = %v, %t, want ok %t", name, c, ok, want)
		}
	}
	if got := Query(200).String(); got != "unknown" {
		t.Errorf("Query(200).String() = %q, want unknown", got)
	}
}
