package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"waypost/bench/fleet"
)

// bulkSize is how many links one call imports.
const bulkSize = 1000

// bulkImport imports links while visitors read others, while links are made and read at once in all regions, and while
// the filters are lost every few seconds, rebuilt, and rebuilt larger as they fill. Nothing that was imported may be
// unknown anywhere.
func bulkImport(w *world) {
	groups := w.times(2, 100)
	var importing sync.WaitGroup
	defer importing.Wait()
	imported := make(chan error, 1)
	answered := 0
	importing.Go(func() {
		for group := range groups {
			told, err := w.importGroup(w.t.Context(), group)
			if err != nil {
				imported <- err
				return
			}
			if told {
				answered++
			}
		}
		imported <- nil
	})
	swapped := w.makeLinks(func() bool { return len(imported) == 0 })
	if err := <-imported; err != nil {
		w.t.Fatal(err)
	}
	w.readImported(groups)
	w.result.Counts["links imported"] = answered * bulkSize
	if swapped == 0 || answered == 0 {
		w.t.Errorf("%d filters were swapped and %d imports of %d answered", swapped, answered, groups)
	}
}

// imported is the code of a link of an import.
func (w *world) imported(group, i int) string {
	return fmt.Sprintf("%s-%d-%d", w.load.Name, group, i)
}

// importGroup makes links by one call, which waits for the edges. Where that is not answered, told is false, and the
// links may be there or not. The error is an answer that is wrong.
func (w *world) importGroup(ctx context.Context, group int) (told bool, err error) {
	var items []fleet.Fields
	var begun []*Write
	for i := range bulkSize {
		key := w.imported(group, i)
		items = append(items, fleet.Fields{"alias": key, "target": target(key, 1)})
		begun = append(begun, w.h.Write(Write{Key: key, N: 1, Kind: "import", Shows: Sight{http.StatusFound, 1}, Invoked: w.h.Now()}))
	}
	origin := w.load.Origins[group%len(w.load.Origins)]
	answer, err := origin.Do(ctx, http.MethodPost, "/links/bulk", fleet.Fields{"items": items})
	if err != nil || answer.Status >= http.StatusInternalServerError {
		return false, nil //nolint:nilerr // an outage, which is not what this is about
	}
	if answer.Status != http.StatusOK {
		return false, fmt.Errorf("import: status %d: %s", answer.Status, answer.Body)
	}
	receipt, err := answer.Receipt()
	if err != nil {
		return false, err
	}
	var body struct{ Results []struct{ Status int } }
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		return false, err
	}
	if len(body.Results) != bulkSize {
		return false, fmt.Errorf("import: %d results of %d", len(body.Results), bulkSize)
	}
	for i, result := range body.Results {
		if result.Status != http.StatusCreated {
			return false, fmt.Errorf("import of %s: status %d", begun[i].Key, result.Status)
		}
		w.h.Happened(begun[i], receipt.Ack == "edges", receipt.Edges, receipt.Acked)
	}
	return true, nil
}

// readImported reads some links of every group on every edge.
func (w *world) readImported(groups int) {
	w.t.Helper()
	const step = 97 // others of each group
	conns := w.connections()
	for i := 0; i < groups*bulkSize; i += step {
		w.everywhere(conns, w.imported(i/bulkSize, i%bulkSize))
	}
}
