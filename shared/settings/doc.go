// Package settings fills a service's configuration struct from flags and
// environment variables by struct tags, and reports every fault at once.
//
// A field is a setting if it carries an env tag, a flag tag or both; structs
// without either are searched for settings of their own. The tags are:
//
//	env:"WAYPOST_LIMIT_RATE"  the variable; the flag is --limit-rate
//	flag:"limit-rate"         the flag, where it cannot be derived or has no variable
//	default:"50"              the value where nothing is set; without it the field keeps what it holds
//	computed:"host and port"  how the service makes up its own default, for --help only
//	unit:"requests per s"     for --help; types with one obvious unit need none
//	help:"..."                one line
//	required:"true"           a string or list that stays empty is a fault
//	min:"0" max:"1"           inclusive, in the field's own notation
//	enum:"async,exact,off"    the words a string (or each item of a list) may be
//	format:"url"              also "http" (an http or https URL) and "address" (host:port)
//	secret:"true"             never printed; also read from a file, see below
//
// A secret S may instead be named by S_FILE (--s-file): the path of a file of
// at most 64 KiB whose content, less one trailing newline, is the value.
//
// A flag wins over the environment. An empty variable counts as unset; an
// empty flag is a value, so that --trusted-proxies= clears a list.
package settings
