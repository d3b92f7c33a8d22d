// The links that bench/wrk/seed.sh makes, asked for by Zipf's law with exponent 1: the second one half as often as the
// first, the third a third as often. One link is one code.
import http from 'k6/http';
import { check } from 'k6';

const edge = (__ENV.EDGE || 'http://127.0.0.1:8080').replace(/\/$/, '');
const links = Number(__ENV.LINKS || 5000);
if (!(links >= 1)) {
  throw new Error(`LINKS is not a number of links: ${__ENV.LINKS}`);
}

// Rejection-inversion (Hörmann and Derflinger 1996) for the exponent 1, as in bench/wrk/zipf.lua.
const from = Math.log(1.5) - 1;
const to = Math.log(links + 0.5);
const near = 2 - Math.exp(Math.log(2.5) - 0.5);

// pick is the index of a link, from 0 on.
function pick() {
  for (;;) {
    const u = to + Math.random() * (from - to);
    const x = Math.exp(u);
    const rank = Math.min(Math.max(Math.floor(x + 0.5), 1), links);
    if (rank - x <= near || u >= Math.log(rank + 0.5) - 1 / rank) {
      return rank - 1;
    }
  }
}

const systems = ['Windows NT 10.0; Win64; x64', 'Macintosh; Intel Mac OS X 10_15_7', 'X11; Linux x86_64', 'Linux; Android 10; K'];
const languages = ['de-DE,de;q=0.9,en;q=0.8', 'en-US,en;q=0.9', 'en-GB,en;q=0.9', 'fr-FR,fr;q=0.8', 'es-ES,es;q=0.9', 'pl'];

function any(n) {
  return Math.floor(Math.random() * n);
}

// browser is a request's headers.
function browser() {
  return {
    'User-Agent': `Mozilla/5.0 (${systems[any(systems.length)]}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${100 + any(64)}.0.0.0 Safari/537.36`,
    Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'Accept-Encoding': 'gzip, deflate, br',
    'Accept-Language': languages[any(languages.length)],
    Referer: `https://site-${any(30)}.example/articles/${any(1000)}`,
  };
}

// visit asks for a link and checks that it is a redirect to that link's target, which is not followed.
export function visit() {
  const number = String(pick()).padStart(6, '0');
  const answer = http.get(`${edge}/wk${number}`, {
    headers: browser(), redirects: 0, tags: { name: 'link' }, // one name for all: k6 keeps times by name
  });
  check(answer, {
    status: (a) => a.status === 302,
    location: (a) => a.headers.Location === `https://example.com/somewhere/to/go?with=a&link=${number}`,
  });
}

// options are those of a script with one scenario. The checks alone decide whether a run fails.
export function options(scenario) {
  return {
    scenarios: { visits: scenario },
    thresholds: { checks: ['rate==1'] },
    discardResponseBodies: true,
    summaryTrendStats: ['min', 'med', 'p(90)', 'p(99)', 'p(99.9)', 'max'],
  };
}
