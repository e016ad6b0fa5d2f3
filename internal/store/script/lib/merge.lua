-- merge_posts puts posts, newest first, among the entries of a list that are in order of
-- arrival: each below every newer entry, and above the entry that its ceiling names, if
-- any, which is the nearest older post of its author. It returns the new entries.
local function merge_posts(entries, posts, ceilings)
  if #entries == 0 then
    return posts
  end
  -- greatest[i]: the newest id at or below entry i, so that the lowest newer entry of a
  -- post is found by one walk down.
  local greatest = {}
  for i = #entries, 1, -1 do
    local under = greatest[i + 1]
    greatest[i] = (under and below(entries[i], under)) and under or entries[i]
  end
  local gaps, gap = {}, 0
  for i, post in ipairs(posts) do
    while gap < #entries and below(post, greatest[gap + 1]) do
      gap = gap + 1
    end
    local at = gap
    if ceilings[i] and ceilings[i] - 1 < at then
      at = ceilings[i] - 1
    end
    gaps[at] = gaps[at] or {}
    table.insert(gaps[at], post)
  end
  local result = {}
  for i = 0, #entries do
    if i > 0 then
      result[#result + 1] = entries[i]
    end
    for _, post in ipairs(gaps[i] or {}) do
      result[#result + 1] = post
    end
  end
  return result
end

-- rewrite replaces a list by entries and the mark at its end, '' for none, within a cap.
local function rewrite(list, entries, ends, cap)
  if #entries > cap then
    for i = #entries, cap + 1, -1 do
      entries[i] = nil
    end
    ends = ''
  end
  if ends ~= '' or #entries == 0 then
    entries[#entries + 1] = ends ~= '' and ends or '0'
  end
  replace(list, entries)
end

-- insert_post puts a post that a merge has read into its place by id, if the list lacks it
-- although it has room. It reports whether the list changed. A post that is older than the
-- end of a trimmed list had its time there; a list that is being built gets it by that.
local function insert_post(list, post, cap)
  local last = redis.call('LINDEX', list, -1)
  if not last or last == 'b' or last ~= '0' and below(post, last) or redis.call('LPOS', list, post) then
    return false
  end
  local entries = redis.call('LRANGE', list, 0, -1)
  if last == '0' then
    entries[#entries] = nil
  end
  rewrite(list, merge_posts(entries, { post }, {}), last == '0' and '0' or '', cap)
  return true
end
