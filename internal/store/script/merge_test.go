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

// withAndWithoutMemory changes two equal timelines in the same way: it pushes a post, inserts one that a build has read, restarts a build, or ends one with
// the newest posts. insert_post remembers nothing of the second one. It returns both lists, the searches in each, and whether the build has ended.
const withAndWithoutMemory = `
local change, cap, slack = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local reply = { {}, {}, 0, 0, 0 }
for i = 1, 2 do
  local list, hash, marks, searched = KEYS[i], KEYS[i + 2], KEYS[i + 4], 0
  if change == 'push' then
    push(list, ARGV[4], cap, slack, hash)
  elseif change == 'insert' then
    if i == 2 then
      redis.call('DEL', marks)
    end
    local raise, searches = insert_post(list, ARGV[4], cap, hash, marks, 'h1')
    searched = searches
    if raise then
      redis.call('HINCRBY', hash, 'epoch', 1)
    end
  elseif change == 'restart' then
    build_again(list)
    redis.call('HINCRBY', hash, 'epoch', 1)
  else
    local entries, held, posts = redis.call('LRANGE', list, 0, -1), {}, {}
    local last = table.remove(entries)
    if not is_mark(last) then
      entries[#entries + 1], last = last, ''
    end
    for _, entry in ipairs(entries) do
      held[entry] = true
    end
    for k = 4, #ARGV do
      posts[#posts + 1] = not held[ARGV[k]] and ARGV[k] or nil
    end
    local ids = leading_ids(entries)
    local ceilings, unknown = ceilings_by_bucket(ids, posts)
    if unknown then
      build_again(list)
    elseif #entries + #posts > 0 then
      add_posts(list, entries, ids, last, posts, ceilings, #ARGV - 3 < cap and '0' or '', cap)
      reply[5] = 1
    end
    redis.call('HINCRBY', hash, 'epoch', 1)
  end
  reply[i], reply[i + 2] = redis.call('LRANGE', list, 0, -1), searched
end
return reply`

// Posts of some authors wait, two of them at a partition with a clock that is behind, while the list is built again and other posts arrive.
func TestMerge_InsertsWithMemoryAsWithout(t *testing.T) {
	t.Parallel()
	script, client := scriptOf(t, withAndWithoutMemory)
	const listCap, slack, authors = 60, 5, 4
	r := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // not a secret
	keys := []string{"remembers", "forgets", "remembers:hash", "forgets:hash", "remembers:marks", "forgets:marks"}
	searched, remembered := 0, 0
	for range 20 {
		if err := client.FlushDB(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		change := func(name string, entries ...any) (ended bool) {
			t.Helper()
			reply, err := script.Run(t.Context(), client, keys, slices.Concat([]any{name, listCap, slack}, entries)...).Slice()
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(reply[0], reply[1]) {
				t.Fatalf("after %s %v, the lists are\n%v and\n%v", name, entries, reply[0], reply[1])
			}
			remembered += int(reply[2].(int64))
			searched += int(reply[3].(int64))
			return reply[4].(int64) == 1
		}
		var created []any // in the order of their creation
		var waiting [authors][]any
		merged := map[any]bool{} // created before the last build
		build := func() {
			newest := slices.Clone(created)
			slices.SortFunc(newest, func(a, b any) int { return strings.Compare(b.(string), a.(string)) })
			if !change("build", newest[:min(len(newest), listCap)]...) {
				return
			}
			for _, post := range created {
				merged[post] = true
			}
		}
		change("restart")
		for now := range 1000 {
			author := r.IntN(authors)
			switch n := r.IntN(100); {
			case n < 45:
				instant := 1_795_616_382_000 + now
				if author < 2 {
					instant -= 100 * (1 + author)
				}
				post := fmt.Sprintf("%d%03d000", instant, author)
				created, waiting[author] = append(created, post), append(waiting[author], post)
			case n < 97 && now%500 > 250 && len(waiting[author]) > 0:
				post := waiting[author][0]
				waiting[author] = waiting[author][1:]
				if merged[post] {
					change("insert", post)
				} else {
					change("push", post)
				}
			case n == 98:
				change("restart")
			case n == 99:
				build()
			}
		}
	}
	if searched < 100 || remembered > searched/2 {
		t.Errorf("%d searches of the list with memory, %d without", remembered, searched)
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
