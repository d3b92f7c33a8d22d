package feed

import (
	"iter"
	"maps"
)

// pages is the number of pages of a paged map. With the ten thousand values that
// the largest of them may have, a page is some forty values.
const pages = 256

// paged is an immutable map: with and without make the next one, which shares
// all pages but one. To copy a map of n values for each of n changes would be
// O(n²). The zero value is empty. A key's hash places it, and must be the same
// whenever the key is.
type paged[K comparable, V any] struct {
	page *[pages]map[K]V
	n    int
}

func (p paged[K, V]) value(hash uint64, key K) (v V, ok bool) {
	if p.page == nil {
		return v, false
	}
	v, ok = p.page[hash%pages][key]
	return v, ok
}

func (p paged[K, V]) with(hash uint64, key K, v V) paged[K, V] {
	at := hash % pages
	next := p.copied(at)
	if _, had := next.page[at][key]; !had {
		next.n++
	}
	next.page[at][key] = v
	return next
}

func (p paged[K, V]) without(hash uint64, key K) paged[K, V] {
	if _, had := p.value(hash, key); !had {
		return p
	}
	at := hash % pages
	next := p.copied(at)
	next.n--
	delete(next.page[at], key)
	return next
}

// copied is p with one page that is not shared.
func (p paged[K, V]) copied(at uint64) paged[K, V] {
	next := paged[K, V]{page: new([pages]map[K]V), n: p.n}
	if p.page != nil {
		*next.page = *p.page
	}
	next.page[at] = maps.Clone(next.page[at])
	if next.page[at] == nil {
		next.page[at] = make(map[K]V)
	}
	return next
}

// put adds a value in place, while nobody shares p yet.
func (p *paged[K, V]) put(hash uint64, key K, v V) {
	if p.page == nil {
		p.page = new([pages]map[K]V)
	}
	at := hash % pages
	if p.page[at] == nil {
		p.page[at] = make(map[K]V)
	}
	if _, had := p.page[at][key]; !had {
		p.n++
	}
	p.page[at][key] = v
}

func (p paged[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if p.page == nil {
			return
		}
		for _, page := range p.page {
			for k, v := range page {
				if !yield(k, v) {
					return
				}
			}
		}
	}
}
