package script

import (
	"fmt"
	"math/rand/v2"
	"reflect"
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
local ceilings, unknown = ceilings_by_bucket(leading_ids(entries), posts)
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

// scriptOf returns a script that begins with the functions of lib/merge.lua, and a client of a server.
func scriptOf(t *testing.T, body string) (*redis.Script, *redis.Client) {
	t.Helper()
	source := ""
	for _, file := range []string{"lib/ids.lua", "lib/search.lua", "lib/list.lua", "lib/merge.lua"} {
		text, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		source += text + "\n"
	}
	options, err := redis.ParseURL(redistest.Server(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return redis.NewScript(strings.ReplaceAll(source, removeAbsentKey, "") + body), client
}

func TestMerge_FindsTheCeilingsOfANaiveSearch(t *testing.T) {
	t.Parallel()
	script, client := scriptOf(t, naive)
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

// inTwoWays adds posts to two equal lists: one by one if there are few, and by replacing the list.
const inTwoWays = `
local n, cap, last, ends = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]
local entries, posts, ceilings = {}, {}, {}
for i = 5, #ARGV do
  table.insert(i <= n + 4 and entries or posts, ARGV[i])
end
redis.call('DEL', KEYS[1], KEYS[2])
for _, key in ipairs(KEYS) do
  for _, entry in ipairs(entries) do
    redis.call('RPUSH', key, entry)
  end
  if last ~= '' then
    redis.call('RPUSH', key, last)
  end
end
local ids = leading_ids(entries)
ceilings = ceilings_by_bucket(ids, posts)
rewrite(KEYS[2], merge_posts(entries, posts, places(ids, posts, ceilings)), ends, cap)
add_posts(KEYS[1], entries, ids, last, posts, ceilings, ends, cap)
return { redis.call('LRANGE', KEYS[1], 0, -1), redis.call('LRANGE', KEYS[2], 0, -1) }`

func TestMerge_AddsPostsOneByOneLikeARewrite(t *testing.T) {
	t.Parallel()
	script, client := scriptOf(t, inTwoWays)
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // not a secret
	for range 2000 {
		entries := elements(r, 30)
		posts := slices.DeleteFunc(elements(r, 12), func(post any) bool { return slices.Contains(entries, post) })
		if len(posts) == 0 {
			continue
		}
		last := []string{"", "0", "b"}[r.IntN(3)]
		if len(entries) == 0 && last == "" {
			last = "0"
		}
		ends := last
		if r.IntN(4) == 0 {
			ends = ""
		}
		args := slices.Concat([]any{len(entries), 5 + r.IntN(40), last, ends}, entries, posts)
		reply, err := script.Run(t.Context(), client, []string{"one", "other"}, args...).Slice()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(reply[0], reply[1]) {
			t.Fatalf("the posts %v were added to %v %q, then %q, as\n%v and\n%v", posts, entries, last, ends, reply[0], reply[1])
		}
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
