package settings

import "testing"

func TestMarkdownHasARowForEverySetting(t *testing.T) {
	t.Parallel()
	type config struct {
		Rate   float64 `env:"WAYPOST_RATE" default:"5" unit:"per second" help:"how fast"`
		Secret string  `env:"WAYPOST_SECRET" secret:"true" help:"a | b"`
	}
	const want = "| variable | unit | default | meaning |\n|---|---|---|---|\n" +
		"| `WAYPOST_RATE` | per second | `5` | how fast |\n" +
		"| `WAYPOST_SECRET` |  |  | a \\| b; or `WAYPOST_SECRET_FILE`, a file that holds it |\n"
	if got := Markdown(&config{}); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
