package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/retwis"
)

func TestPeopleMayRegister(t *testing.T) {
	t.Parallel()
	p := population{seed: 1, people: 20_000, readers: 1000}
	names := map[string]bool{}
	for i := range p.size() {
		m := p.member(i)
		if err := retwis.CheckUsername(m.username); err != nil {
			t.Errorf("%s: %v", m.username, err)
		}
		if folded := retwis.FoldUsername(m.username); names[folded] {
			t.Errorf("there are two of the name %s", folded)
		} else {
			names[folded] = true
		}
		if name, err := retwis.NormalizeDisplayName(m.displayName); err != nil || name != m.displayName {
			t.Errorf("the display name %q becomes %q: %v", m.displayName, name, err)
		}
		if bio, err := retwis.NormalizeBio(m.bio); err != nil || bio != m.bio {
			t.Errorf("the bio %q becomes %q: %v", m.bio, bio, err)
		}
	}
	for i := 9_999_990; i < 10_000_000; i++ {
		if err := retwis.CheckUsername(population{people: i + 1}.member(i).username); err != nil {
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
	p := population{seed: 3, people: 10, posts: 20_000}
	different := map[string]bool{}
	for i := range p.posts {
		author, text := p.post(i)
		if author < 0 || author >= p.people {
			t.Fatalf("post %d is by number %d", i, author)
		}
		if _, err := retwis.NormalizePostText(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		different[text] = true
	}
	if len(different) < p.posts/2 {
		t.Errorf("%d posts have %d texts", p.posts, len(different))
	}
}

func TestASeedAlwaysMakesTheSame(t *testing.T) {
	t.Parallel()
	a := population{seed: 9, people: 300, follows: 12, posts: 300, readers: 3}
	b, other := a, a
	other.seed = 10
	same := 0
	for i := range a.size() {
		if diff := cmp.Diff(a.member(i), b.member(i), cmp.AllowUnexported(member{})); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(a.following(i), b.following(i)); diff != "" {
			t.Fatal(diff)
		}
	}
	for i := range a.posts {
		author, text := a.post(i)
		if author2, text2 := b.post(i); author2 != author || text2 != text {
			t.Fatalf("post %d is %q by %d, or %q by %d", i, text, author, text2, author2)
		}
		more := a
		more.people *= 2
		if _, text2 := more.post(i); text2 != text {
			t.Fatalf("among more people post %d is %q instead of %q", i, text2, text)
		}
		if _, text2 := other.post(i); text2 == text {
			same++
		}
	}
	if same > a.posts/2 {
		t.Errorf("with another seed %d of %d texts are the same", same, a.posts)
	}
}

func TestFollowsAddUpAndFallOff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		population
	}{
		{"many", population{seed: 1, people: 5000, follows: 30}},
		{"an odd number", population{seed: 1, people: 501, follows: 7}},
		{"everybody follows everybody", population{seed: 1, people: 40, follows: 39}},
		{"nearly", population{seed: 1, people: 41, follows: 38}},
		{"two", population{seed: 1, people: 2, follows: 1}},
		{"one", population{seed: 1, people: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			followers := make([]int, tt.people)
			total, most, least := 0, 0, tt.people
			for i := range tt.people {
				list := tt.following(i)
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
			if total != tt.totalFollows() {
				t.Errorf("there are %d follows, want %d", total, tt.totalFollows())
			}
			if most > max(2*tt.follows-1, 0) {
				t.Errorf("somebody follows %d", most)
			}
			if tt.name == "many" {
				if first, last := followers[0], followers[tt.people-1]; first < 20*max(last, 1) {
					t.Errorf("the first has %d followers, the last %d", first, last)
				}
				if most == least {
					t.Error("all follow as many")
				}
			}
		})
	}
}
