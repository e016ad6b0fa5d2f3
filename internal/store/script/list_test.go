package script

import (
	"testing"
)

// pushedInStep fills homes of many users up to the cap, and pushes the same posts to all of them. It returns the greatest length of a home, the greatest
// number of homes that one post trimmed, and how many posts trimmed some.
const pushedInStep = `
local users, cap, slack, posts = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local function home(i)
  return 'home:' .. string.format('%.0f', 1700000000000000000 + i * 1001)
end
local function post(i)
  return string.format('%.0f', 1700000000000 + i) .. '000000'
end
for i = 1, users do
  redis.call('DEL', home(i))
  for n = 1, cap do
    redis.call('LPUSH', home(i), post(n))
  end
end
local longest, most, trims = 0, 0, 0
for n = 1, posts do
  local trimmed = 0
  for i = 1, users do
    local before = redis.call('LLEN', home(i))
    push(home(i), post(cap + n), cap, slack, home(i))
    local after = redis.call('LLEN', home(i))
    longest = math.max(longest, after)
    if after <= before then
      trimmed = trimmed + 1
      if after ~= cap then
        return { -1, after, n }
      end
    end
  end
  most, trims = math.max(most, trimmed), trims + (trimmed > 0 and 1 or 0)
end
for i = 1, users do
  redis.call('DEL', home(i))
end
return { longest, most, trims }`

// Attack: thousands of homes that were filled by the same posts had the same length. One post then trimmed all of them, in scripts of 28 to 40 ms.
func TestPush_TrimsHomesThatAreInStepInDifferentCalls(t *testing.T) {
	t.Parallel()
	script, client := scriptOf(t, pushedInStep)
	const users, limit, slack, posts = 300, 20, 40, 60
	reply, err := script.Run(t.Context(), client, nil, users, limit, slack, posts).Int64Slice()
	if err != nil {
		t.Fatal(err)
	}
	if longest := reply[0]; longest < limit+slack/2 || longest > limit+slack {
		t.Errorf("the longest home has %d entries, want %d to %d", longest, limit+slack/2, limit+slack)
	}
	if most := reply[1]; most > users/10 {
		t.Errorf("one post trimmed %d of %d homes, want a tenth at most", most, users)
	}
	if trims := reply[2]; trims < slack/2 {
		t.Errorf("%d posts trimmed homes, want %d at least", trims, slack/2)
	}
}
