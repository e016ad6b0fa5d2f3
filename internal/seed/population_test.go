package seed

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/retwis"
)

func TestPeopleMayRegister(t *testing.T) {
	t.Parallel()
	p := Population{Seed: 1, People: 5000, Readers: 1000}
	names := map[string]bool{}
	for i := range p.Size() {
		m := p.Member(i)
		if err := retwis.CheckUsername(m.Username); err != nil {
			t.Errorf("%s: %v", m.Username, err)
		}
		if folded := retwis.FoldUsername(m.Username); names[folded] {
			t.Errorf("there are two of the name %s", folded)
		} else {
			names[folded] = true
		}
		if name, err := retwis.NormalizeDisplayName(m.DisplayName); err != nil || name != m.DisplayName {
			t.Errorf("the display name %q becomes %q: %v", m.DisplayName, name, err)
		}
		if bio, err := retwis.NormalizeBio(m.Bio); err != nil || bio != m.Bio {
			t.Errorf("the bio %q becomes %q: %v", m.Bio, bio, err)
		}
	}
	for i := 9_999_990; i < 10_000_000; i++ {
		if err := retwis.CheckUsername(Population{People: i + 1}.Member(i).Username); err != nil {
			t.Errorf("number %d: %v", i, err)
		}
	}
	for _, name := range []string{"star", "reader0", "reader999"} {
		if !names[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

func TestPostsMayBePosted(t *testing.T) {
	t.Parallel()
	p := Population{Seed: 3, People: 10, Posts: 5000}
	different := map[string]bool{}
	for i := range p.Posts {
		if author := p.Author(i); author < 0 || author >= p.People {
			t.Fatalf("post %d is by number %d", i, author)
		}
		text, err := p.Text(i)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		different[text] = true
		if i > 0 && p.Age(i) >= p.Age(i-1) {
			t.Fatalf("post %d is %s old, the one before %s", i, p.Age(i), p.Age(i-1))
		}
	}
	if oldest, youngest := p.Age(0), p.Age(p.Posts-1); oldest > Span || oldest < Span*9/10 || youngest < 0 {
		t.Errorf("the posts are %s to %s old", youngest, oldest)
	}
	if len(different) < p.Posts/2 {
		t.Errorf("%d posts have %d texts", p.Posts, len(different))
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

func TestASeedAlwaysMakesTheSame(t *testing.T) {
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
			t.Fatalf("post %d is %q by %d, or %q by %d", i, text, a.Author(i), text2, b.Author(i))
		}
		more := a
		more.People *= 2
		if text2 := textOf(t, more, i); text2 != text {
			t.Fatalf("among more people post %d is %q instead of %q", i, text2, text)
		}
		if textOf(t, other, i) == text {
			same++
		}
	}
	if same > a.Posts/2 {
		t.Errorf("with another seed %d of %d texts are the same", same, a.Posts)
	}
}

func TestFollowsAddUpAndFallOff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		Population
	}{
		{"many", Population{Seed: 1, People: 3000, Follows: 30}},
		{"an odd number", Population{Seed: 1, People: 501, Follows: 7}},
		{"everybody follows everybody", Population{Seed: 1, People: 40, Follows: 39}},
		{"nearly", Population{Seed: 1, People: 41, Follows: 38}},
		{"two", Population{Seed: 1, People: 2, Follows: 1}},
		{"one", Population{Seed: 1, People: 1}},
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
					t.Fatalf("number %d follows %v", i, list)
				}
				for _, author := range list {
					followers[author]++
				}
				total += len(list)
				most, least = max(most, len(list)), min(least, len(list))
			}
			if total != tt.TotalFollows() {
				t.Errorf("there are %d follows, want %d", total, tt.TotalFollows())
			}
			if most > max(2*tt.Follows-1, 0) {
				t.Errorf("somebody follows %d", most)
			}
			if tt.name == "many" {
				if first, last := followers[0], followers[tt.People-1]; first < 20*max(last, 1) {
					t.Errorf("the first has %d followers, the last %d", first, last)
				}
				if most == least {
					t.Error("all follow as many")
				}
			}
		})
	}
}
