package positions

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// explored is what the exhaustive model says of all its worlds together.
type explored struct {
	worlds, states, writes int
	line                   string // of the largest world
}

// parseModel adds up lines "… 3 writes, 33 histories, 976178 states".
func parseModel(in io.Reader) (sum explored, err error) {
	lines := bufio.NewScanner(in)
	largest := 0
	for lines.Scan() {
		_, said, ok := strings.Cut(lines.Text(), ".go:")
		if !ok {
			continue
		}
		_, said, _ = strings.Cut(said, ": ")
		var writes, histories, states int
		if n, err := fmt.Sscanf(said, "%d writes, %d histories, %d states", &writes, &histories, &states); n != 3 || err != nil {
			continue
		}
		sum.worlds++
		sum.states += states
		sum.writes = max(sum.writes, writes)
		if states > largest {
			largest, sum.line = states, said
		}
	}
	return sum, lines.Err()
}
