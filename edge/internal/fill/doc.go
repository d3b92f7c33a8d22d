// Package fill asks the origins' internal listener: entries, heads, changes,
// codes and the config, over keep-alive HTTP.
package fill
