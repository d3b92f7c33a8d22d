package admin

import "fmt"

// few is how many links there are at first.
const few = 1000

// The words that links are found by: each but the first in ever fewer of them.
const (
	everywhere = "EXAMPLE"   // in every target
	tenfold    = "tenfold"   // in the targets of ten of the first thousand links, and of no other
	nowhere    = "nonesuch"  // in none
	rubric     = "rubric-%d" // in the titles of one in a thousand
)

// Owners, tags and numbers are spread evenly over the links.
const (
	owners  = 10
	tags    = 100
	rubrics = 1000
)

func owner(n int) string { return fmt.Sprintf("owner-%d", n%owners) }

func tag(n int) string { return fmt.Sprintf("tag-%d", n%tags) }

// link is the body that makes the n-th link; the same n makes the same link.
func link(n int) map[string]any {
	return map[string]any{
		"target": target(n),
		"title":  fmt.Sprintf("Größe wählen, "+rubric, n%rubrics),
		"owner":  owner(n),
		"tags":   []string{tag(n), "all"},
	}
}

func target(n int) string {
	campaign := "spring"
	if n < few && n%(few/10) == 0 {
		campaign = tenfold
	}
	return fmt.Sprintf("https://shop.example.com/products/%d?utm_source=newsletter&utm_campaign=%s", number(n), campaign)
}

// number is the n-th link's, of up to seven digits in no order: products have any.
func number(n int) int { return (n + 1) * 7919 % 9_999_991 }
