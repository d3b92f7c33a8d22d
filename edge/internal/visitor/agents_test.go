package visitor

import (
	"strings"
	"testing"

	"waypost/shared/click"
)

func newReader(tb testing.TB) *agentReader {
	tb.Helper()
	reader, err := newAgentReader(agentRules)
	if err != nil {
		tb.Fatal(err)
	}
	return reader
}

func TestAgentsAreClassed(t *testing.T) {
	t.Parallel()
	reader := newReader(t)
	for _, c := range []struct{ agent, want string }{
		// Browsers of people: device browser os.
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", "desktop chrome windows"},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0", "desktop edge windows"},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36 OPR/109.0.0.0", "desktop opera windows"},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0", "desktop firefox windows"},
		{"Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko", "desktop other windows"},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15", "desktop safari macos"},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:125.0) Gecko/20100101 Firefox/125.0", "desktop firefox macos"},
		{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36", "desktop chrome linux"},
		{"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0", "desktop firefox linux"},
		{"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36", "desktop chrome chromeos"},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1", "mobile safari ios"},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/124.0.6367.88 Mobile/15E148 Safari/604.1", "mobile chrome ios"},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/125.0 Mobile/15E148 Safari/605.1.15", "mobile firefox ios"},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 EdgiOS/124.0.2478.50 Mobile/15E148 Safari/605.1.15", "mobile edge ios"},
		{"Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1", "tablet safari ios"},
		{"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36", "mobile chrome android"},
		{"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36", "tablet chrome android"},
		{"Mozilla/5.0 (Linux; Android 14; Pixel 8 Pro) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36 EdgA/124.0.2478.62", "mobile edge android"},
		{"Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/24.0 Chrome/117.0.0.0 Mobile Safari/537.36", "mobile samsung android"},
		{"Mozilla/5.0 (Android 14; Mobile; rv:125.0) Gecko/125.0 Firefox/125.0", "mobile firefox android"},
		{"Mozilla/5.0 (Android 14; Tablet; rv:125.0) Gecko/125.0 Firefox/125.0", "tablet firefox android"},
		{"Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; id) Presto/2.12.423 Version/12.16", "mobile opera android"},
		{"Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/87.0.4280.88 Safari/537.36 WebAppManager", "tv chrome other"},
		{"Mozilla/5.0 (Linux; Android 9; AFTMM Build/PS7624; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/108.0.5359.160 Mobile Safari/537.36", "tv chrome android"},
		{"Mozilla/5.0 (PlayStation; PlayStation 5/2.26) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15", "tv safari other"},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 YaBrowser/24.1.0.0 Safari/537.36", "desktop other windows"},
		// Pages shown inside apps, and phones with an unlucky name.
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21E236 Instagram 325.0.3.34.90 (iPhone14,5; iOS 17_4_1; en_US; en; scale=3.00; 1170x2532; 584158963)", "mobile safari ios"},
		{"Mozilla/5.0 (Linux; Android 14; SM-S911B Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/124.0.6367.82 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/462.0.0.47.85;]", "mobile chrome android"},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]", "mobile safari ios"},
		{"Mozilla/5.0 (Linux; Android 11; CUBOT NOTE 20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/100.0.0.0 Mobile Safari/537.36", "mobile chrome android"},
		// Tools are a person's.
		{"", "other other other"},
		{"curl/8.5.0", "other other other"},
		{"Wget/1.21.4", "other other other"},
		{"Go-http-client/1.1", "other other other"},
		{"python-requests/2.31.0", "other other other"},
		{"okhttp/4.12.0", "other other other"},
		{"Apache-HttpClient/4.5.14 (Java/11)", "other other other"},
		{"PostmanRuntime/7.37.3", "other other other"},
		{"node-fetch/1.0", "other other other"},
		{"\xff\xfe invalid \x80", "other other other"},
	} {
		got := reader.read(c.agent)
		if words := got.device.String() + " " + got.browser.String() + " " + got.os.String(); words != c.want || got.bot {
			t.Errorf("%q: got %s, bot %v, want %s and no bot", c.agent, words, got.bot, c.want)
		}
	}
}

func TestCrawlersAndPreviewsAreBots(t *testing.T) {
	t.Parallel()
	reader := newReader(t)
	for _, agent := range []string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
		"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.6367.78 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
		"WhatsApp/2.23.20.0", "Twitterbot/1.0", "TelegramBot (like TwitterBot)",
		"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
		"Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
		"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/124.0.0.0 Safari/537.36",
		"Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)",
		"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
		"Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)",
		"ia_archiver", "CCBot/2.0 (https://commoncrawl.org/faq/)", "SomeNewBot", "some-crawler 0.1",
		"Scrapy/2.11 (+https://scrapy.org)",
	} {
		if !reader.read(agent).bot {
			t.Errorf("%q: got no bot", agent)
		}
	}
}

func TestTheFirstRuleThatHoldsDecides(t *testing.T) {
	t.Parallel()
	reader, err := newAgentReader("# comment\n\nkind\tperson\tcubot\nkind\tbot\tbot$\nos\tlinux\tqnx & !auto\nbrowser?\tsafari\tqnx\nbrowser?\tedge\tchrome/\n")
	if err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string]struct {
		os      click.OS
		browser click.Browser
		bot     bool
	}{
		"Cubot":      {},
		"a robot":    {bot: true},
		"a robot 2":  {},
		"QNX":        {os: click.Linux, browser: click.Safari},
		"QNX auto":   {browser: click.Safari},
		"Windows NT": {os: click.OSOther},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36": {os: click.Windows, browser: click.Chrome},
	} {
		got := reader.read(agent)
		if agent != "Windows NT" && got.os != want.os || got.browser != want.browser || got.bot != want.bot {
			t.Errorf("%q: got %s, %s, bot %v, want %+v", agent, got.os, got.browser, got.bot, want)
		}
	}
}

func TestRulesThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"kind\tbot", "kind bot x", "kind\tbot\tx\ty", "kind\tbot\t", "kind\tbot\ta & ", "kind\tbot\tBot/",
		"kind\tnobody\tx", "age\tbot\tx", "os\tbeos\tx", "device\tfridge\tx", "browser\tmosaic\tx",
	} {
		if _, err := newAgentReader(text); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
	if _, err := newAgentReader("kind\tbot\tx\n\n#\nkind\tbot\n"); err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("got error %v, want one that names line 4", err)
	}
}
