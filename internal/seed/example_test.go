package seed_test

import (
	"fmt"

	"retwis/internal/seed"
)

// The numbers and the seed define the whole data set.
func ExamplePopulation() {
	p := seed.Population{Seed: 1, People: 100, Follows: 10, Posts: 500, Readers: 20}
	fmt.Println(p.Size(), "members,", p.TotalFollows(), "follows")
	fmt.Println(p.Member(100).Username, p.Member(101).Username, "follows", p.Following(101))
	first, again := p.Member(7), seed.Population{Seed: 1, People: 100}.Member(7)
	fmt.Println(first == again)
	// Output:
	// 121 members, 1020 follows
	// star reader0 follows [100]
	// true
}
