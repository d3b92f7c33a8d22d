package chaos

import (
	"context"

	"github.com/redis/go-redis/v9"

	"waypost/shared/bloom"
)

// filterKeys are all filters of a region.
const filterKeys = "wp:*:f"

// generations watches the Bloom filters of all regions. A rebuilt one is of another generation.
type generations struct {
	clients map[string]*redis.Client
	seen    map[string]uint32 // by region and key
	swapped int               // filters that were of another generation than at the look before
}

func newGenerations(clients map[string]*redis.Client) *generations {
	return &generations{clients: clients, seen: map[string]uint32{}}
}

// look counts what was swapped since the last look.
func (g *generations) look(ctx context.Context) error {
	for region, client := range g.clients {
		found := client.Scan(ctx, 0, filterKeys, 1000).Iterator()
		for found.Next(ctx) {
			head, err := client.GetRange(ctx, found.Val(), 0, bloom.HeaderSize-1).Result()
			if err != nil {
				return err
			}
			h, err := bloom.ParseHeader(head)
			if err != nil {
				continue // it has gone meanwhile
			}
			id := region + " " + found.Val()
			if before, ok := g.seen[id]; ok && before != h.Generation {
				g.swapped++
			}
			g.seen[id] = h.Generation
		}
		if err := found.Err(); err != nil {
			return err
		}
	}
	return nil
}

// lose looks, and deletes all filters: what the edges build in their place is of another generation.
func (g *generations) lose(ctx context.Context) error {
	if err := g.look(ctx); err != nil {
		return err
	}
	for _, client := range g.clients {
		if err := remove(ctx, client, filterKeys); err != nil {
			return err
		}
	}
	return nil
}
