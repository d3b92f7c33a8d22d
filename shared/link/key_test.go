package link

import (
	"strings"
	"testing"
)

func TestKeyBytes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		key         Key
		bytes, text string
	}{
		{Key{Code: "abc"}, "\x00abc", "abc"},
		{Key{Domain: "go.example", Code: "k\u00f6ln"}, "go.example\x00k\u00f6ln", "go.example/k\u00f6ln"},
	}
	for _, tt := range tests {
		if got := string(tt.key.Append([]byte("x"))); got != "x"+tt.bytes {
			t.Errorf("%v: Append = %q, want %q", tt.key, got, "x"+tt.bytes)
		}
		if got, want := tt.key.Hash(), HashBytes([]byte(tt.bytes)); got != want {
			t.Errorf("%v: Hash = %x, want that of its bytes, %x", tt.key, got, want)
		}
		if got := tt.key.String(); got != tt.text {
			t.Errorf("String = %q, want %q", got, tt.text)
		}
	}
}

// Shards, slots and bits in stored state are derived from this value.
func TestHashBytesIsXXHash64WithSeedZero(t *testing.T) {
	t.Parallel()
	if got, want := HashBytes([]byte("abc")), uint64(0x44bc2cf5ad770999); got != want {
		t.Errorf("HashBytes(abc) = %#x, want %#x", got, want)
	}
}

func TestHashOfTheLongestKeyAllocatesNothing(t *testing.T) {
	k := Key{Domain: strings.Repeat("d", MaxDomain), Code: strings.Repeat("\U00020000", MaxAlias)}
	if got := testing.AllocsPerRun(100, func() { k.Hash() }); got != 0 {
		t.Errorf("Hash allocates %v times, want 0", got)
	}
}

func TestInvalidErrorListsEveryField(t *testing.T) {
	t.Parallel()
	err := &InvalidError{Fields: []FieldError{{"alias", "is a reserved word"}, {"target", "has no host"}}}
	if got, want := err.Error(), "invalid: alias: is a reserved word; target: has no host"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}
