package settings_test

import (
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"waypost/shared/settings"
)

type everyType struct {
	Text     string         `env:"WAYPOST_TEXT" default:"hello"`
	On       bool           `env:"WAYPOST_ON" default:"on"`
	Int      int            `env:"WAYPOST_INT" default:"-1" min:"-10" max:"10"`
	Int64    int64          `env:"WAYPOST_INT64" default:"2"`
	Uint64   uint64         `env:"WAYPOST_UINT64" default:"3" max:"9"`
	Rate     float64        `env:"WAYPOST_RATE" default:"0.5" min:"0"`
	Wait     time.Duration  `env:"WAYPOST_WAIT" default:"1s" min:"1ms"`
	Size     settings.Bytes `env:"WAYPOST_SIZE" default:"64MiB" max:"1GiB"`
	List     []string       `env:"WAYPOST_LIST" default:"a,b"`
	Prefixes []netip.Prefix `env:"WAYPOST_PREFIXES"`
	Addr     netip.AddrPort `env:"WAYPOST_ADDR"`
	Mode     string         `env:"WAYPOST_MODE" default:"async" enum:"async,exact,off"`
	URLs     []string       `env:"WAYPOST_URLS" format:"http"`
	URL      string         `env:"WAYPOST_URL" format:"url"`
	Listen   string         `env:"WAYPOST_LISTEN" default:":8080" format:"address"`
	Flag     string         `flag:"only-a-flag"`
	Ignored  string
}

func defaults() everyType {
	return everyType{
		Text: "hello", On: true, Int: -1, Int64: 2, Uint64: 3, Rate: 0.5, Wait: time.Second, Size: 64 << 20,
		List: []string{"a", "b"}, Mode: "async", Listen: ":8080",
	}
}

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestLoadReadsEveryType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want func(*everyType)
	}{
		{name: "defaults", want: func(*everyType) {}},
		{
			name: "environment",
			env: map[string]string{
				"WAYPOST_TEXT": "x", "WAYPOST_ON": "off", "WAYPOST_INT": "10", "WAYPOST_INT64": "-9223372036854775808",
				"WAYPOST_UINT64": "9", "WAYPOST_RATE": "1e3", "WAYPOST_WAIT": "1m30s", "WAYPOST_SIZE": "2MB",
				"WAYPOST_LIST": "x, y", "WAYPOST_PREFIXES": "10.1.2.3/8,2001:db8::1,::ffff:192.0.2.0/120",
				"WAYPOST_ADDR": "[::1]:80", "WAYPOST_MODE": "off", "WAYPOST_URLS": "http://a:1,https://b/c",
				"WAYPOST_URL": "nats://user:pass@h:4222", "WAYPOST_LISTEN": "127.0.0.1:0",
			},
			want: func(c *everyType) {
				*c = everyType{
					Text: "x", Int: 10, Int64: -1 << 63, Uint64: 9, Rate: 1000, Wait: 90 * time.Second, Size: 2e6,
					List: []string{"x", "y"},
					Prefixes: []netip.Prefix{
						netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128"), netip.MustParsePrefix("192.0.2.0/24"),
					},
					Addr: netip.MustParseAddrPort("[::1]:80"), Mode: "off", URLs: []string{"http://a:1", "https://b/c"},
					URL: "nats://user:pass@h:4222", Listen: "127.0.0.1:0",
				}
			},
		},
		{
			name: "a flag wins over the environment, even over a bad value there",
			args: []string{"--text", "flag", "-int=-3", "--rate", "7", "--only-a-flag", "yes"},
			env:  map[string]string{"WAYPOST_TEXT": "env", "WAYPOST_INT": "bad"},
			want: func(c *everyType) { c.Text, c.Int, c.Rate, c.Flag = "flag", -3, 7, "yes" },
		},
		{
			name: "a negative number is a value",
			args: []string{"--int", "-3"},
			want: func(c *everyType) { c.Int = -3 },
		},
		{
			name: "an empty variable counts as unset",
			env:  map[string]string{"WAYPOST_TEXT": "", "WAYPOST_INT": ""},
			want: func(*everyType) {},
		},
		{
			name: "an empty flag is a value",
			args: []string{"--list=", "--text", ""},
			want: func(c *everyType) { c.List, c.Text = nil, "" },
		},
	}
	for _, word := range []string{"off", "false", "0", "OFF"} {
		tests = append(tests, struct {
			name string
			args []string
			env  map[string]string
			want func(*everyType)
		}{name: "boolean word " + word, args: []string{"--on", word}, want: func(c *everyType) { c.On = false }})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := defaults()
			tt.want(&want)
			var got everyType
			rest, err := settings.Load(&got, tt.args, env(tt.env))
			if err != nil {
				t.Fatalf("Load: %v", err)
			}
			if len(rest) != 0 {
				t.Errorf("rest = %q, want none", rest)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("config\n got %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestLoadReturnsArgumentsThatAreNoFlags(t *testing.T) {
	t.Parallel()
	type config struct {
		Text string `env:"WAYPOST_TEXT"`
		On   bool   `env:"WAYPOST_ON"`
	}
	tests := []struct {
		name string
		args []string
		want []string
		cfg  config
	}{
		{"around flags", []string{"key", "--text", "v", "create"}, []string{"key", "create"}, config{Text: "v"}},
		{"a boolean flag leaves what is no boolean word", []string{"--on", "serve"}, []string{"serve"}, config{On: true}},
		{"a boolean flag at the end", []string{"serve", "--on"}, []string{"serve"}, config{On: true}},
		{"a boolean flag before a flag", []string{"--on", "--text=v"}, nil, config{On: true, Text: "v"}},
		{"after two dashes", []string{"--text", "v", "--", "--on", "x"}, []string{"--on", "x"}, config{Text: "v"}},
		{"a lone dash", []string{"-"}, []string{"-"}, config{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var cfg config
			got, err := settings.Load(&cfg, tt.args, env(nil))
			if err != nil {
				t.Fatalf("Load: %v", err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("rest = %q, want %q", got, tt.want)
			}
			if cfg != tt.cfg {
				t.Errorf("config = %+v, want %+v", cfg, tt.cfg)
			}
		})
	}
}

func TestLoadFindsSettingsInNestedStructsAndKeepsPresets(t *testing.T) {
	t.Parallel()
	type limits struct {
		Burst int `env:"WAYPOST_BURST" default:"100"`
	}
	var cfg struct {
		limits
		Create struct {
			Rate float64 `env:"WAYPOST_CREATE_RATE" default:"20"`
		}
		EdgeID string `env:"WAYPOST_EDGE_ID" computed:"host name and port"`
	}
	cfg.EdgeID = "host:8080"
	if _, err := settings.Load(&cfg, []string{"--burst", "7"}, env(nil)); err != nil {
		t.Fatalf("Load: %v", err)
	}
	if cfg.Burst != 7 || cfg.Create.Rate != 20 || cfg.EdgeID != "host:8080" {
		t.Errorf("config = %+v, want burst 7, rate 20, the preset id", cfg)
	}
}

func TestLoadReportsHelpBeforeAnyFault(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"-h", "-help", "--help"} {
		var cfg everyType
		_, err := settings.Load(&cfg, []string{"--nonsense", "--int=x", arg}, env(nil))
		if !errors.Is(err, settings.ErrHelp) {
			t.Errorf("Load(%s) = %v, want ErrHelp", arg, err)
		}
	}
}

func TestLoadRefusesAStructItCannotFill(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		cfg  any
		want string
	}{
		{"type", &struct {
			C chan int `env:"WAYPOST_C" default:"x"`
		}{}, "field C"},
		{"default", &struct {
			N int `env:"WAYPOST_N" default:"x"`
		}{}, "default tag"},
		{"bound", &struct {
			N int `env:"WAYPOST_N" default:"1" min:"x"`
		}{}, "min tag"},
		{"format", &struct {
			S string `env:"WAYPOST_S" default:"x" format:"uri"`
		}{}, "default tag"},
		{"flag of two fields", &struct {
			A string `env:"WAYPOST_A"`
			B string `flag:"a"`
		}{}, "share the flag --a"},
		{"flag of a secret's file", &struct {
			A string `env:"WAYPOST_A" secret:"true"`
			B string `env:"WAYPOST_A_FILE"`
		}{}, "share the flag --a-file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := settings.Load(tt.cfg, nil, env(nil))
			if _, users := errors.AsType[*settings.FaultsError](err); err == nil || users || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Load = %v, want an error of the struct with %q", err, tt.want)
			}
		})
	}
}
