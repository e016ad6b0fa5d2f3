package enginetest

import (
	"slices"

	"retwis/internal/retwis"
)

// repeatSpan is the number of elements directly below a repost among which the rule about repeats looks for its post.
const repeatSpan = 100

// Shown returns the elements that a timeline shows of those that it holds, newest first: those that show a post, without the reposts
// of a post that one of the next elements shows. shows reports whether an element shows a post, that rule aside.
func Shown(held []retwis.Element, shows func(retwis.Element) bool) []retwis.Element {
	var all []retwis.Element
	for i, e := range held {
		below := held[i+1 : min(i+1+repeatSpan, len(held))]
		repeats := e.Reposted != 0 && slices.ContainsFunc(below, func(other retwis.Element) bool {
			return other.Shown() == e.Shown() && shows(other)
		})
		if shows(e) && !repeats {
			all = append(all, e)
		}
	}
	return all
}
