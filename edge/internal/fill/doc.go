// Package fill asks the origins' internal listener: probes, acknowledgements,
// entries, changes, codes and the config, over keep-alive HTTP.
package fill
