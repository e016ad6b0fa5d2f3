package seed

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/retwis"
)

func TestPopulation_MembersHaveValidProfiles(t *testing.T) {
	t.Parallel()
	p := Population{Seed: 1, People: 5000, Readers: 1000}
	names := map[string]bool{}
	for i := range p.Size() {
		m := p.Member(i)
		if err := retwis.CheckUsername(m.Username); err != nil {
			t.Errorf("%s: %v", m.Username, err)
		}
		if folded := retwis.FoldUsername(m.Username); names[folded] {
			t.Errorf("username %s is not unique", folded)
		} else {
			names[folded] = true
		}
		if name, err := retwis.NormalizeDisplayName(m.DisplayName); err != nil || name != m.DisplayName {
			t.Errorf("display name %q is normalised to %q: %v", m.DisplayName, name, err)
		}
		if bio, err := retwis.NormalizeBio(m.Bio); err != nil || bio != m.Bio {
			t.Errorf("bio %q is normalised to %q: %v", m.Bio, bio, err)
		}
	}
	for i := 9_999_990; i < 10_000_000; i++ {
		if err := retwis.CheckUsername(Population{People: i + 1}.Member(i).Username); err != nil {
			t.Errorf("member %d: %v", i, err)
		}
	}
	for _, name := range []string{"star", "reader0", "reader999"} {
		if !names[name] {
			t.Errorf("no member has the username %s", name)
		}
	}
}

func TestPopulation_PostsAreValid(t *testing.T) {
	t.Parallel()
	p := Population{Seed: 3, People: 10, Posts: 5000}
	different := map[string]bool{}
	for i := range p.Posts {
		if author := p.Author(i); author < 0 || author >= p.People {
			t.Fatalf("author of post %d is member %d, want one of %d people", i, author, p.People)
		}
		text, err := p.Text(i)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		different[text] = true
		if i > 0 && p.Age(i) >= p.Age(i-1) {
			t.Fatalf("age of post %d is %s, of the post before %s", i, p.Age(i), p.Age(i-1))
		}
	}
	if oldest, youngest := p.Age(0), p.Age(p.Posts-1); oldest > Span || oldest < Span*9/10 || youngest < 0 {
		t.Errorf("ages of the posts range from %s to %s", youngest, oldest)
	}
	if len(different) < p.Posts/2 {
		t.Errorf("%d posts have only %d different texts", p.Posts, len(different))
	}
}

func textOf(t *testing.T, p Population, i int) string {
	t.Helper()
	text, err := p.Text(i)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPopulation_SameSeedGeneratesSameData(t *testing.T) {
	t.Parallel()
	a := Population{Seed: 9, People: 300, Follows: 12, Posts: 300, Readers: 3}
	b, other := a, a
	other.Seed = 10
	same := 0
	for i := range a.Size() {
		if diff := cmp.Diff(a.Member(i), b.Member(i)); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(a.Following(i), b.Following(i)); diff != "" {
			t.Fatal(diff)
		}
	}
	for i := range a.Posts {
		text := textOf(t, a, i)
		if text2 := textOf(t, b, i); text2 != text || a.Author(i) != b.Author(i) || a.Age(i) != b.Age(i) {
			t.Fatalf("post %d: %q by %d, then %q by %d", i, text, a.Author(i), text2, b.Author(i))
		}
		more := a
		more.People *= 2
		if text2 := textOf(t, more, i); text2 != text {
			t.Fatalf("post %d with more people: %q, want %q", i, text2, text)
		}
		if textOf(t, other, i) == text {
			same++
		}
	}
	if same > a.Posts/2 {
		t.Errorf("%d of %d texts are the same with another seed", same, a.Posts)
	}
}

func TestPopulation_FollowCountsAddUpAndFavourPopularPeople(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		Population
	}{
		{"many people", Population{Seed: 1, People: 3000, Follows: 30}},
		{"odd number of people", Population{Seed: 1, People: 501, Follows: 7}},
		{"everybody follows everybody", Population{Seed: 1, People: 40, Follows: 39}},
		{"almost everybody follows everybody", Population{Seed: 1, People: 41, Follows: 38}},
		{"two people", Population{Seed: 1, People: 2, Follows: 1}},
		{"one person", Population{Seed: 1, People: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			followers := make([]int, tt.People)
			total, most, least := 0, 0, tt.People
			for i := range tt.People {
				list := tt.Following(i)
				sorted := slices.Sorted(slices.Values(list))
				if slices.Contains(list, i) || len(slices.Compact(sorted)) != len(list) {
					t.Fatalf("member %d follows %v, want distinct other members", i, list)
				}
				for _, author := range list {
					followers[author]++
				}
				total += len(list)
				most, least = max(most, len(list)), min(least, len(list))
			}
			if total != tt.TotalFollows() {
				t.Errorf("%d follows, want %d", total, tt.TotalFollows())
			}
			if most > max(2*tt.Follows-1, 0) {
				t.Errorf("a member follows %d people, want at most %d", most, max(2*tt.Follows-1, 0))
			}
			if tt.name == "many people" {
				if first, last := followers[0], followers[tt.People-1]; first < 20*max(last, 1) {
					t.Errorf("the first person has %d followers, the last %d", first, last)
				}
				if most == least {
					t.Error("all people follow the same number of people")
				}
			}
		})
	}
}
