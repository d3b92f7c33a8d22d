package link

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestParseAliasAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"ascii", "spring-sale_2.0~x", "spring-sale_2.0~x"},
		{"case is kept", "CaseMatters1", "CaseMatters1"},
		{"one character", "a", "a"},
		{"only punctuation", "-", "-"},
		{"dots after the first character", "a..b.", "a..b."},
		{"composed umlaut", "k\u00f6ln-1", "k\u00f6ln-1"},
		{"decomposed umlaut is composed", "ko\u0308ln-2", "k\u00f6ln-2"},
		{"hangul jamo are composed", "\u1112\u1161\u11ab", "\ud55c"},
		{"kelvin sign becomes K", "\u212a1", "K1"},
		{"mark that NFC leaves on its letter", "q\u0307", "q\u0307"},
		{"marks on marks", "q\u0307\u0323", "q\u0323\u0307"},
		{"spacing vowel signs", "\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940"},
		{"digits of another script", "\u0661\u0662\u0663", "\u0661\u0662\u0663"},
		{"64 characters", strings.Repeat("a", 64), strings.Repeat("a", 64)},
		{"64 characters of four bytes", strings.Repeat("\U00020000", 64), strings.Repeat("\U00020000", 64)},
		{"64 characters counted after NFC", strings.Repeat("o\u0308", 64), strings.Repeat("\u00f6", 64)},
		{"64 characters of four runes each", strings.Repeat("\u03b1\u0313\u0300\u0345", 64), strings.Repeat("\u1f82", 64)},
		{"reserved word as a part", "api2", "api2"},
		{"full-width letters are another word", "\uff41\uff50\uff49", "\uff41\uff50\uff49"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseAlias(tt.in)
			if err != nil || got != tt.want {
				t.Errorf("ParseAlias(%+q) = %+q, %v, want %+q", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestParseAliasRefuses(t *testing.T) {
	t.Parallel()
	const chars = `may have only letters, digits, "-", "_", "." and "~"`
	tests := []struct{ name, in, reason string }{
		{"empty", "", "must not be empty"},
		{"slash", "a/b", chars},
		{"plus", "a+b", chars},
		{"percent sign", "a%41", chars},
		{"space", "a b", chars},
		{"nul", "a\x00b", chars},
		{"line feed", "a\n", chars},
		{"colon", "a:b", chars},
		{"question mark", "a?b", chars},
		{"emoji", "a\U0001f600", chars},
		{"zero-width joiner", "a\u200db", chars},
		{"right-to-left override", "a\u202eb", chars},
		{"letter number", "\u2167", chars},
		{"other number", "\u00bd", chars},
		{"connector that is not the underscore", "a\u203fb", chars},
		{"replacement character", "a\ufffd", chars},
		{"leading dot", ".well", "must not start with a dot"},
		{"dot", ".", "must not start with a dot"},
		{"leading mark", "\u0308a", "must not have a mark without a letter or digit before it"},
		{"mark on punctuation", "a-\u0308", "must not have a mark without a letter or digit before it"},
		{"65 characters", strings.Repeat("a", 65), "must have at most 64 characters"},
		{"65 characters of two bytes", strings.Repeat("\u00f6", 65), "must have at most 64 characters"},
		{"more than is normalised", strings.Repeat("a", maxRawAlias+1), "must have at most 64 characters"},
		{"invalid UTF-8", "a\xff", "is not valid UTF-8"},
		{"overlong UTF-8", "a\xc0\xaf", "is not valid UTF-8"},
		{"encoded surrogate", "\xed\xa0\x80", "is not valid UTF-8"},
		{"reserved word", "api", "is a reserved word"},
		{"reserved word in capitals", "DOCS", "is a reserved word"},
		{"reserved word in mixed case", "HealthZ", "is a reserved word"},
		{"reserved word with a long s", "doc\u017f", "is a reserved word"},
		{"reserved file", "robots.txt", "is a reserved word"},
		{"reserved file in capitals", "FAVICON.ICO", "is a reserved word"},
		{"other reserved words", "readyz", "is a reserved word"},
		{"and metrics", "metrics", "is a reserved word"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseAlias(tt.in)
			if err == nil || err.Error() != tt.reason || got != "" {
				t.Errorf("ParseAlias(%+q) = %+q, %v, want %q", tt.in, got, err, tt.reason)
			}
		})
	}
}

func FuzzParseAlias(f *testing.F) {
	for _, s := range []string{"", "abc", ".x", "API", "ko\u0308ln", "\u0308", "a\xff", "\u1112\u1161\u11ab", "\u03b1\u0313\u0300\u0345", "a" + strings.Repeat("\u0308", 40)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		code, err := ParseAlias(s)
		if err != nil {
			if code != "" || err.Error() == "" {
				t.Fatalf("ParseAlias(%+q) = %+q, %q", s, code, err)
			}
			return
		}
		if n := utf8.RuneCountInString(code); n < 1 || n > MaxAlias || !norm.NFC.IsNormalString(code) {
			t.Fatalf("ParseAlias(%+q) = %+q: %d runes, NFC %t", s, code, n, norm.NFC.IsNormalString(code))
		}
		if again, err := ParseAlias(code); err != nil || again != code {
			t.Fatalf("ParseAlias(%+q) = %+q, %v, want itself", code, again, err)
		}
		// Whatever can be created can be reached: as created and as given.
		for _, spelling := range []string{code, s, escapeAll(s)} {
			p, err := ParsePath([]byte("/"+spelling), nil)
			if err != nil || string(p.Code) != code || p.Suffix != nil || p.Preview {
				t.Fatalf("ParsePath(/%+q) = %+v, %v, want %+q", spelling, p, err, code)
			}
		}
	})
}

// escapeAll percent-encodes every byte of s.
func escapeAll(s string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(s) {
		b.WriteString("%" + string(digits[s[i]>>4]) + string(digits[s[i]&0xf]))
	}
	return b.String()
}
