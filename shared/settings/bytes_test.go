package settings_test

import (
	"testing"

	"waypost/shared/settings"
)

func TestParseBytesReadsWholeNumbersWithUnits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want settings.Bytes
	}{
		{"0", 0},
		{"65536", 65536},
		{"12B", 12},
		{"1KB", 1000},
		{"64MB", 64_000_000},
		{"3GB", 3_000_000_000},
		{"1TB", 1_000_000_000_000},
		{"1KiB", 1024},
		{"64MiB", 64 << 20},
		{"64 mib", 64 << 20},
		{"2GiB", 2 << 30},
		{"8TiB", 8 << 40},
		{"9223372036854775807", 1<<63 - 1},
	}
	for _, tt := range tests {
		if got, err := settings.ParseBytes(tt.text); err != nil || got != tt.want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", tt.text, got, err, tt.want)
		}
	}
}

func TestParseBytesRefusesWhatIsNoSize(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "MiB", "-1", "+1", "1.5MiB", "64M", "1e6", "1 2", "9223372036854775808", "8388608TiB", "1KiB "} {
		if got, err := settings.ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", text, got)
		}
	}
}

func TestBytesPrintsItsLargestWholeUnit(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]settings.Bytes{"0": 0, "1023": 1023, "1KiB": 1024, "1536KiB": 1536 << 10, "64MiB": 64 << 20, "3GiB": 3 << 30, "2TiB": 2 << 40} {
		if got := b.String(); got != want {
			t.Errorf("Bytes(%d).String() = %q, want %q", int64(b), got, want)
		}
	}
}
