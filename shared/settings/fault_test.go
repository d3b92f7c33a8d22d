package settings_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"waypost/shared/settings"
)

// faults loads cfg and returns "name: problem" of each fault.
func faults(t *testing.T, cfg any, args []string, vars map[string]string) []string {
	t.Helper()
	_, err := settings.Load(cfg, args, env(vars))
	e, ok := errors.AsType[*settings.FaultsError](err)
	if !ok {
		t.Fatalf("Load = %v, want a *FaultsError", err)
	}
	var got []string
	for _, f := range e.Faults {
		got = append(got, f.Name+": "+f.Problem)
	}
	return got
}

func TestLoadNamesEachKindOfFault(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		name string
		text string
		want string
	}{
		{name: "WAYPOST_ON", text: "maybe", want: `WAYPOST_ON: "maybe" is not on or off`},
		{name: "WAYPOST_INT", text: "1.5", want: `WAYPOST_INT: "1.5" is not a whole number`},
		{name: "WAYPOST_INT", text: "11", want: `WAYPOST_INT: "11" is above 10`},
		{name: "WAYPOST_INT", text: "-11", want: `WAYPOST_INT: "-11" is below -10`},
		{name: "WAYPOST_INT64", text: "9223372036854775808", want: `WAYPOST_INT64: "9223372036854775808" is not a whole number`},
		{name: "WAYPOST_UINT64", text: "-1", want: `WAYPOST_UINT64: "-1" is not a whole number of at least 0`},
		{name: "WAYPOST_UINT64", text: "10", want: `WAYPOST_UINT64: "10" is above 9`},
		{name: "WAYPOST_RATE", text: "fast", want: `WAYPOST_RATE: "fast" is not a number`},
		{name: "WAYPOST_RATE", text: "NaN", want: `WAYPOST_RATE: "NaN" is not a number`},
		{name: "WAYPOST_RATE", text: "+Inf", want: `WAYPOST_RATE: "+Inf" is not a number`},
		{name: "WAYPOST_RATE", text: "-0.1", want: `WAYPOST_RATE: "-0.1" is below 0`},
		{name: "WAYPOST_WAIT", text: "5", want: `WAYPOST_WAIT: "5" is not a duration such as 250ms, 1s or 24h`},
		{name: "WAYPOST_WAIT", text: "1us", want: `WAYPOST_WAIT: "1us" is below 1ms`},
		{name: "WAYPOST_SIZE", text: "64M", want: `WAYPOST_SIZE: "64M" is not a size such as 65536, 64KiB or 64MB`},
		{name: "WAYPOST_SIZE", text: "2GiB", want: `WAYPOST_SIZE: "2GiB" is above 1GiB`},
		{name: "WAYPOST_LIST", text: "a,,b", want: `WAYPOST_LIST: "a,,b" item 2 is empty`},
		{name: "WAYPOST_PREFIXES", text: "10.0.0.0/8,x", want: `WAYPOST_PREFIXES: "10.0.0.0/8,x" item 2 is not an address or CIDR prefix`},
		{name: "WAYPOST_PREFIXES", text: "fe80::1%eth0", want: `WAYPOST_PREFIXES: "fe80::1%eth0" item 1 is not an address or CIDR prefix`},
		{name: "WAYPOST_ADDR", text: "x", want: `WAYPOST_ADDR: "x" is not valid`},
		{name: "WAYPOST_MODE", text: "Async", want: `WAYPOST_MODE: "Async" is not one of async, exact, off`},
		{args: []string{"--mode="}, want: `--mode: "" is not one of async, exact, off`},
		{name: "WAYPOST_URLS", text: "http://a,ftp://b", want: `WAYPOST_URLS: item 2 is not an http or https URL`},
		{name: "WAYPOST_URL", text: "localhost:4222", want: `WAYPOST_URL: is not a URL with scheme and host`},
		{name: "WAYPOST_URL", text: "nats://user:pa ss@host:x", want: `WAYPOST_URL: is not a URL with scheme and host`},
		{name: "WAYPOST_LISTEN", text: "8080", want: `WAYPOST_LISTEN: "8080" is not host:port or :port`},
		{name: "WAYPOST_LISTEN", text: ":65536", want: `WAYPOST_LISTEN: ":65536" is not host:port or :port`},
		{args: []string{"--int", "x"}, want: `--int: "x" is not a whole number`},
		{args: []string{"--int"}, want: `--int: needs a value`},
		{args: []string{"--text", "--on"}, want: `--text: needs a value`},
		{args: []string{"--on=maybe"}, want: `--on: "maybe" is not on or off`},
		{args: []string{"--text=a", "-text=b"}, want: `--text: given more than once (a list is one value with commas)`},
		{args: []string{"--secrt=hunter2"}, want: `--secrt: unknown flag`},
		{args: []string{"--text-file=x"}, want: `--text-file: unknown flag`},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			var cfg everyType
			got := faults(t, &cfg, tt.args, map[string]string{tt.name: tt.text})
			if want := []string{tt.want}; !slices.Equal(got, want) {
				t.Errorf("faults = %q, want %q", got, want)
			}
		})
	}
}

func TestLoadCutsALongValueInItsFault(t *testing.T) {
	t.Parallel()
	var cfg everyType
	got := faults(t, &cfg, nil, map[string]string{"WAYPOST_INT": strings.Repeat("9", 5000)})
	if len(got) != 1 || len(got[0]) > 120 {
		t.Errorf("faults = %q, want one short line", got)
	}
}

type paired struct {
	Region string   `env:"WAYPOST_REGION" required:"true"`
	URLs   []string `env:"WAYPOST_ORIGIN_URL" required:"true" format:"http"`
	Cert   string   `env:"WAYPOST_TLS_CERT"`
	Key    string   `env:"WAYPOST_TLS_KEY" secret:"true"`
	Count  int      `env:"WAYPOST_COUNT" required:"true"`
}

func (c *paired) Check() []settings.Fault {
	if (c.Cert == "") != (c.Key == "") {
		return []settings.Fault{{Name: "WAYPOST_TLS_KEY", Problem: "goes together with WAYPOST_TLS_CERT"}}
	}
	return nil
}

func TestLoadReportsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	var cfg paired
	_, err := settings.Load(&cfg, []string{"--nonsense", "--tls-cert", "c.pem", "--region="}, env(map[string]string{"WAYPOST_COUNT": "x"}))
	want := `configuration has 5 faults:
  --nonsense: unknown flag
  --region: is required
  WAYPOST_ORIGIN_URL: is required
  WAYPOST_COUNT: "x" is not a whole number
  WAYPOST_TLS_KEY: goes together with WAYPOST_TLS_CERT`
	if err == nil || err.Error() != want {
		t.Errorf("Load:\n got %v\nwant %s", err, want)
	}
}

func TestLoadLeavesOutChecksOfSettingsAlreadyAtFault(t *testing.T) {
	t.Parallel()
	var cfg paired
	got := faults(t, &cfg, []string{"--region=eu", "--origin-url=http://o", "--tls-cert=c.pem", "--tls-key-file=" + t.TempDir()}, nil)
	if len(got) != 1 || !strings.HasPrefix(got[0], "--tls-key-file: ") {
		t.Errorf("faults = %q, want only the unreadable file", got)
	}
}
