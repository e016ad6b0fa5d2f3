-- Posts of authors with too many followers to push to are kept once a partition, in
-- 'pulled:' lists, and put on a home when it is read or watched. The reader's marks say up
-- to which post of each such author that has been done.

-- ceilings_by_origin returns for each post the first older entry that its author may have
-- made: entries do not tell their authors, but the partition that made them, in the digits
-- before the last three.
local function ceilings_by_origin(entries, posts)
  local by_origin = {}
  for i, entry in ipairs(entries) do
    local origin = origin_of(entry)
    by_origin[origin] = by_origin[origin] or {}
    table.insert(by_origin[origin], i)
  end
  local ceilings = {}
  for k, post in ipairs(posts) do
    for _, i in ipairs(by_origin[origin_of(post)] or {}) do
      if below(entries[i], post) then
        ceilings[k] = i
        break
      end
    end
  end
  return ceilings
end

-- How many posts may come on top of newer ones where somebody watches, as they do by
-- fan-out that lags. More are put in their places.
local FEW = 16

-- newer_than_mark adds what is pulled of an author and newer than a mark to fresh, and the
-- author to those of the posts. It returns how many posts that are, and whether nothing
-- older is pulled.
local function newer_than_mark(pulled, mark, author, fresh, author_of)
  local count = 0
  while true do
    local posts = redis.call('LRANGE', pulled, count, count + FEW - 1)
    for _, post in ipairs(posts) do
      if not below(mark, post) then
        return count, false
      end
      count = count + 1
      fresh[#fresh + 1], author_of[post] = post, author
    end
    if #posts < FEW then
      return count, true
    end
  end
end

-- pull_posts puts on a home what it lacks of some large authors. What is newer than everything
-- there, or little and watched, is pushed, oldest first, and told is called with each post
-- and what headed the home before. Else, where something newer had arrived meanwhile, or
-- where so much was posted that some of it is not kept any more, the posts are put in their
-- places by id, what is older than a full home goes, the generation rises, and told is
-- called without a post. So are posts that a merge has read before. A home that is missing or
-- being built gets them by its building.
local function pull_posts(tag, reader, authors, cap, slack, told)
  local home, marks = tag .. 'home:' .. reader, tag .. 'pull_watermarks:' .. reader
  local ends = redis.call('LINDEX', home, -1)
  if not ends or ends == 'b' then
    return
  end
  local fresh, author_of, latest, gap = {}, {}, {}, false
  for _, author in ipairs(authors) do
    local pulled = tag .. 'pulled:' .. author
    local newest = redis.call('LINDEX', pulled, 0)
    if newest and redis.call('ZSCORE', tag .. 'following:' .. reader, author) then
      local mark = redis.call('HGET', marks, author) or '0'
      if below(mark, newest) then
        latest[#latest + 1] = author
        latest[#latest + 1] = newest
        local count, whole = newer_than_mark(pulled, mark, author, fresh, author_of)
        gap = gap or (whole and count >= cap)
      end
    end
  end
  if #fresh == 0 then
    return
  end
  redis.call('HSET', marks, unpack(latest))
  table.sort(fresh, below)
  local online = redis.call('SISMEMBER', tag .. 'online', 'h' .. reader) == 1
  if online and #fresh <= FEW and not gap then
    -- As nearly always where many homes are gone over, so without reading all of this one.
    local changed = false
    for _, post in ipairs(fresh) do
      local merge_marks = tag .. 'merge_marks:' .. tonumber(origin_of(post))
      local generations = merge_marks_after(merge_marks, merge_marks .. ':older', post)
      if merged_already(generations, { 'h' .. reader }, author_of[post], post)[1] then
        changed = insert_post(home, post, cap) or changed
      elseif below(ends, post) and not redis.call('LPOS', home, post) then
        local before = head(home)
        push(home, post, cap, slack)
        told(post, before)
      end
    end
    if changed then
      redis.call('HINCRBY', tag .. 'user:' .. reader, 'epoch', 1)
      told()
    end
    return
  end

  local entries, held = redis.call('LRANGE', home, 0, -1), {}
  if ends == '0' then
    entries[#entries] = nil
  else
    ends = ''
  end
  local newest = '0'
  for _, post in ipairs(entries) do
    held[post] = true
    if below(newest, post) then
      newest = post
    end
  end
  local floor = ends == '' and entries[#entries] or '0'
  local posts, late = {}, false
  for i = #fresh, 1, -1 do
    if not held[fresh[i]] and below(floor, fresh[i]) then
      posts[#posts + 1] = fresh[i]
      late = late or below(fresh[i], newest)
    end
  end
  if #posts == 0 then
    return
  end
  if gap or late and (#posts > FEW or not online) then
    rewrite(home, merge_posts(entries, posts, ceilings_by_origin(entries, posts)), gap and '' or ends, cap)
    redis.call('HINCRBY', tag .. 'user:' .. reader, 'epoch', 1)
    told()
    return
  end
  for i = #posts, 1, -1 do
    local before = head(home)
    push(home, posts[i], cap, slack)
    told(posts[i], before)
  end
end

-- announcement returns a function for pull_posts that tells the nodes which serve a home.
local function announcement(nodes, command, channel, name)
  return function(post, before)
    if post then
      publish(nodes, command, channel, '+ ' .. post, { name }, { before })
    else
      publish(nodes, command, channel, '!', { name })
    end
  end
end

-- mark notes that a home has, or will get by a merge, all that is pulled of some authors
-- by now.
local function mark(tag, reader, authors)
  for _, author in ipairs(authors) do
    local newest = redis.call('LINDEX', tag .. 'pulled:' .. author, 0)
    if newest and redis.call('ZSCORE', tag .. 'following:' .. reader, author) then
      redis.call('HSET', tag .. 'pull_watermarks:' .. reader, author, newest)
    end
  end
end
