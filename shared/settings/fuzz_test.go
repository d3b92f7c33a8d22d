package settings_test

import (
	"errors"
	"testing"

	"waypost/shared/settings"
)

func FuzzParseBytes(f *testing.F) {
	for _, seed := range []string{"", "0", "64MiB", "1 kb", "9223372036854775807", "8TiB", "-1", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := settings.ParseBytes(text)
		if err != nil {
			return
		}
		if b < 0 {
			t.Fatalf("ParseBytes(%q) = %d, want at least 0", text, b)
		}
		if again, err := settings.ParseBytes(b.String()); err != nil || again != b {
			t.Fatalf("ParseBytes(%q) = %d, %v, want %d", b.String(), again, err, b)
		}
	})
}

// FuzzLoad gives every setting the same text: none may panic, and all that
// may be refused is the user's input, never the struct.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"", "1", "on", "1s", "64MiB", "10.0.0.0/8", "::ffff:1.2.3.4/97", "http://u:p@h/", ":0", "a,b", "NaN", "--", "-x=1", "--int=3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var byEnv, byFlag everyType
		_, envErr := settings.Load(&byEnv, nil, func(string) string { return text })
		_, argErr := settings.Load(&byFlag, []string{"--text=" + text, text, text}, func(string) string { return "" })
		for _, err := range []error{envErr, argErr} {
			if _, users := errors.AsType[*settings.FaultsError](err); err != nil && !users && !errors.Is(err, settings.ErrHelp) {
				t.Fatalf("Load with %q: %v, want nil, faults or help", text, err)
			}
		}
		if argErr == nil && byFlag.Text != text {
			t.Fatalf("--text=%q set %q", text, byFlag.Text)
		}
	})
}
