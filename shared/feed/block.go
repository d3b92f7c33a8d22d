package feed

import (
	"encoding/json"
	"strings"
)

// BlockSource says who blocks a host. Each has rows of its own, so that they need
// not know of each other: a host is blocked as long as one of them has a row.
type BlockSource string

// The sources: calls of the API, and the operator's file.
const (
	BlockByAPI  BlockSource = "api"
	BlockByFile BlockSource = "file"
)

// BlockPrefix begins the names of all blocks' rows.
const BlockPrefix = "block/"

// BlockRow names a block's row on the config shard.
func BlockRow(source BlockSource, host string) string {
	return BlockPrefix + string(source) + "/" + host
}

// cutBlockRow is the inverse of BlockRow; ok is false for other rows.
func cutBlockRow(name string) (source BlockSource, host string, ok bool) {
	rest, ok := strings.CutPrefix(name, BlockPrefix)
	if !ok {
		return "", "", false
	}
	word, host, ok := strings.Cut(rest, "/")
	source = BlockSource(word)
	return source, host, ok && (source == BlockByAPI || source == BlockByFile)
}

// Block is the value of a block's row: no link leads to the host.
type Block struct {
	Host   string `json:"host"`             // as link.ParseHost returns it
	Suffix bool   `json:"suffix,omitempty"` // nor to any host below it
	Note   string `json:"note,omitempty"`
	At     int64  `json:"at,omitempty"` // when it was made, microseconds since 1970
}

// parseBlock reads the value of a host's row; nil for none, and for one that this
// version cannot read.
func parseBlock(host, value string) *Block {
	b := &Block{}
	if err := json.Unmarshal([]byte(value), b); err != nil || b.Host != host {
		return nil
	}
	return b
}

// blockBits says which rows there are of a host.
type blockBits uint8

const (
	exactByAPI blockBits = 1 << iota
	suffixByAPI
	exactByFile
	suffixByFile

	anySuffix = suffixByAPI | suffixByFile
)

// mask are the bits that belong to a source.
func (s BlockSource) mask() blockBits {
	if s == BlockByFile {
		return exactByFile | suffixByFile
	}
	return exactByAPI | suffixByAPI
}

func (b *Block) bits(source BlockSource) blockBits {
	switch {
	case b == nil:
		return 0
	case b.Suffix:
		return source.mask() & anySuffix
	}
	return source.mask() &^ anySuffix
}
