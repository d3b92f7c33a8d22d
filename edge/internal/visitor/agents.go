package visitor

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/medama-io/go-useragent"
	"github.com/medama-io/go-useragent/agents"

	"waypost/shared/click"
)

// maxAgent is how many bytes of a User-Agent header count. Browsers' have 100
// to 300, those of apps that show pages themselves up to 500.
const maxAgent = 1 << 10

//go:embed agents.tsv
var agentRules string

// agent is what a User-Agent header says.
type agent struct {
	device  click.Device
	browser click.Browser
	os      click.OS
	bot     bool
	digest  digest
}

// agentReader classes agents by a library and by rules that correct it. Safe for
// concurrent use.
type agentReader struct {
	library *useragent.Parser
	rules   map[string][]rule // by field
}

// newAgentReader reads rules in the form of agents.tsv.
func newAgentReader(text string) (*agentReader, error) {
	rules, err := parseRules(text)
	if err != nil {
		return nil, fmt.Errorf("rules of agents: %w", err)
	}
	a := &agentReader{library: useragent.NewParser(), rules: make(map[string][]rule)}
	for _, r := range rules {
		if !isValue(r.field, r.value) {
			return nil, fmt.Errorf("rules of agents: %q has no value %q", r.field, r.value)
		}
		a.rules[r.field] = append(a.rules[r.field], r)
	}
	return a, nil
}

func isValue(field, value string) (ok bool) {
	switch field {
	case "kind":
		ok = value == bot || value == person
	case "device":
		_, ok = click.ParseDevice(value)
	case "browser":
		_, ok = click.ParseBrowser(value)
	case "os":
		_, ok = click.ParseOS(value)
	}
	return ok
}

// read classes one agent, clipped to maxAgent.
func (a *agentReader) read(text string) agent {
	found := a.library.Parse(text)
	lower := strings.ToLower(text)
	var r agent
	r.device, _ = click.ParseDevice(a.decide("device", lower, deviceOf(found.Device()).String()))
	r.browser, _ = click.ParseBrowser(a.decide("browser", lower, browserOf(found.Browser()).String()))
	r.os, _ = click.ParseOS(a.decide("os", lower, systemOf(found.OS()).String()))
	r.bot = a.decide("kind", lower, kindOf(found.IsBot())) == bot
	r.digest = digestOf(text)
	return r
}

// The values of the field "kind".
const (
	bot    = "bot"
	person = "person"
)

// decide is the value of a field: that of the first rule that holds, else the
// library's.
func (a *agentReader) decide(field, agent, library string) string {
	for i := range a.rules[field] {
		r := &a.rules[field][i]
		if (!r.weak || library == click.Other) && r.holds(agent) {
			return r.value
		}
	}
	return library
}

func kindOf(isBot bool) string {
	if isBot {
		return bot
	}
	return person
}

func deviceOf(d agents.Device) click.Device {
	switch d {
	case agents.DeviceDesktop:
		return click.Desktop
	case agents.DeviceMobile:
		return click.Mobile
	case agents.DeviceTablet:
		return click.Tablet
	case agents.DeviceTV:
		return click.TV
	default:
		return click.DeviceOther
	}
}

func browserOf(b agents.Browser) click.Browser {
	switch b {
	case agents.BrowserChrome:
		return click.Chrome
	case agents.BrowserSafari:
		return click.Safari
	case agents.BrowserFirefox:
		return click.Firefox
	case agents.BrowserEdge:
		return click.Edge
	case agents.BrowserOpera, agents.BrowserOperaMini:
		return click.Opera
	case agents.BrowserSamsung:
		return click.Samsung
	default:
		return click.BrowserOther
	}
}

func systemOf(s agents.OS) click.OS {
	switch s {
	case agents.OSWindows:
		return click.Windows
	case agents.OSMacOS:
		return click.MacOS
	case agents.OSLinux:
		return click.Linux
	case agents.OSAndroid:
		return click.Android
	case agents.OSIOS:
		return click.IOS
	case agents.OSChromeOS:
		return click.ChromeOS
	default:
		return click.OSOther
	}
}
