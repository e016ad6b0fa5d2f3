package script

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/redistest"
)

// naive searches all entries for each post. It returns how many results of ceilings_by_bucket differ, and whether a place is unknown.
const naive = `
local entries, posts, n = {}, {}, tonumber(ARGV[1])
for i = 2, #ARGV do
  table.insert(i <= n + 1 and entries or posts, ARGV[i])
end
local ceilings, unknown = ceilings_by_bucket(entries, posts)
local wrong, expected = 0, false
for k, post in ipairs(posts) do
  local first, newer
  for i, entry in ipairs(entries) do
    if bucket_of(entry) == bucket_of(post) then
      first = first or below(entry, post) and i or nil
      newer = newer or first and below(post, entry)
    end
  end
  expected = expected or newer or false
  wrong = wrong + (ceilings[k] ~= first and 1 or 0)
end
return { wrong + (unknown ~= expected and 1 or 0), expected and 1 or 0 }`

func TestMerge_FindsTheCeilingsOfANaiveSearch(t *testing.T) {
	t.Parallel()
	source := ""
	for _, file := range []string{"lib/ids.lua", "lib/search.lua", "lib/merge.lua"} {
		text, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		source += text + "\n"
	}
	script := redis.NewScript(source + naive)
	options, err := redis.ParseURL(redistest.Server(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // not a secret
	unknown := 0
	for range 2000 {
		entries := elements(r, 30)
		if r.IntN(2) == 0 && len(entries) > 3 { // one arrived late
			late := r.IntN(len(entries))
			entries = slices.Insert(slices.Delete(slices.Clone(entries), late, late+1), 0, entries[late])
		}
		posts := slices.DeleteFunc(elements(r, 12), func(post any) bool { return slices.Contains(entries, post) })
		args := slices.Concat([]any{len(entries)}, entries, posts)
		reply, err := script.Run(t.Context(), client, nil, args...).Int64Slice()
		if err != nil {
			t.Fatal(err)
		}
		if reply[0] != 0 {
			t.Fatalf("%d results differ for the posts %v in %v", reply[0], posts, entries)
		}
		unknown += int(reply[1])
	}
	if unknown < 100 || unknown > 1900 {
		t.Errorf("%d of 2000 lists have a post whose place is unknown", unknown)
	}
}

// elements returns up to n elements of few buckets, newest first.
func elements(r *rand.Rand, n int) []any {
	buckets := 1 + r.IntN(4)
	found := map[string]bool{}
	for range r.IntN(n + 1) {
		id := fmt.Sprintf("%d%03d%03d", 1_795_616_382_000+r.IntN(40), r.IntN(buckets), r.IntN(4))
		found[id+[]string{"", "", ":5:77", "~5~1795616382493128325"}[r.IntN(4)]] = true
	}
	all := []any{}
	for element := range found {
		all = append(all, element)
	}
	slices.SortFunc(all, func(a, b any) int { return strings.Compare(b.(string), a.(string)) })
	return all
}
