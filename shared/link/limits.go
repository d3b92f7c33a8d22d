package link

// The largest values of a link's fields. Whoever accepts a field checks it, so
// that every other part may rely on it.
const (
	MaxAlias  = 64      // characters (runes) of a code, after NFC
	MaxTarget = 8 << 10 // bytes of a target, as given and as stored
	MaxDomain = 253     // bytes of a domain, without trailing dot
	MaxTitle  = 256     // characters (runes)
	MaxOwner  = 128     // characters (runes)
	MaxTags   = 32      // tags of one link
	MaxTag    = 64      // characters (runes) of one tag
)
