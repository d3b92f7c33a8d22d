package postgres

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	gramLength = 3  // characters
	maxGrams   = 16 // of one search that are looked at
)

// term is a text that links are searched for.
type term struct {
	folded string   // as links.search has its case; "": there is no search
	grams  []string // parts of it that the index finds links by; none: it is too short for that
}

// termOf folds a text and finds its grams.
func (s *Store) termOf(ctx context.Context, text string) (term, error) {
	folded := strings.ToLower(text)
	if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		// Beyond ASCII there are several opinions of what the small letters are.
		err := s.pool.QueryRow(ctx, `SELECT lower($1::text COLLATE "und-x-icu")`, text).Scan(&folded)
		if err != nil {
			return term{}, translate("list", err)
		}
	}
	return term{folded: folded, grams: grams(folded)}, nil
}

// grams are the parts of a folded text by each of which links_search finds
// links: three letters or digits in a row, or two at the beginning or the end of
// such a row within the text. (The index knows three characters of a word in a
// row, with a space before and after the word.) If the text has too many, those
// that are left stand evenly spread in it.
//
// What is a letter is for the locale of the database to say. Where it thinks
// otherwise, a gram finds all links: the answer is right, and slow.
func grams(folded string) []string {
	runes := []rune(folded)
	word := make([]bool, len(runes))
	for i, r := range runes {
		word[i] = unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	var all []string
	for i := 0; i+gramLength <= len(runes); i++ {
		part := runes[i : i+gramLength]
		if word[i+1] && (word[i] || word[i+2]) && !slices.Contains(part, utf8.RuneError) {
			all = append(all, string(part))
		}
	}
	if len(all) <= maxGrams {
		return all
	}
	spread := make([]string, maxGrams)
	for i := range spread {
		spread[i] = all[i*(len(all)-1)/(maxGrams-1)]
	}
	return spread
}
