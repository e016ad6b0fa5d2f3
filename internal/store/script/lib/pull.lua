-- Posts of large authors are stored once per partition, in lists with the prefix 'pulled:', and merged
-- into a home when it is read or watched. The pull watermarks of a reader record up to which post of each
-- large author this has been done.

-- The number of posts that a pull may push on top of newer ones if the home is watched, as delayed
-- fan-out does. More posts are merged in order.
local FEW = 16

-- read_pulled appends the pulled posts of an author that are newer than a watermark to fresh, and sets
-- their author in author_of. It stops when fresh has more than cap posts. It returns their number, and whether there is no older
-- pulled post.
local function read_pulled(pulled, watermark, author, fresh, author_of, cap)
  local count = 0
  while #fresh <= cap do
    local posts = redis.call('LRANGE', pulled, count, count + FEW - 1)
    for _, post in ipairs(posts) do
      if not below(watermark, post) then
        return count, false
      end
      count = count + 1
      fresh[#fresh + 1], author_of[post] = post, author
    end
    if #posts < FEW then
      return count, true
    end
  end
  return count, false
end

-- add_pulled adds posts, oldest first, to a home that ends in an entry.
--
-- It pushes posts, oldest first, if they are newer than every entry, or if they are few and the home is
-- watched. It calls announce with each post and the entry that was newest before.
--
-- It merges the posts by id if they are older than some entry, if so many were posted that some are no
-- longer stored, or if a merge has read them before. Then it raises the epoch of the home and calls
-- announce without a post. Posts older than the end of a full home are dropped, unless the home holds
-- an older post of their author.
--
-- If the home is being built, the build adds the posts and raises the epoch. Only posts whose author has an older post
-- in the home are added at once, because the build may not read them.
local function add_pulled(tag, partitions, reader, fresh, author_of, gap, ends, cap, slack, announce)
  local home, account = tag .. 'home:' .. reader, tag .. 'user:' .. reader
  local building = ends == 'b'
  local online = redis.call('SISMEMBER', tag .. 'online', 'h' .. reader) == 1
  if online and #fresh <= FEW and not gap and not building then
    -- The usual case if many homes are watched. It does not read the whole home.
    local changed = false
    for _, post in ipairs(fresh) do
      local merge_marks = tag .. 'merge_marks:' .. bucket_of(post) % partitions
      local mark_keys = merge_marks_after(merge_marks, merge_marks .. ':older', post)
      if merged_already(mark_keys, { 'h' .. reader }, author_of[post], post)[1] then
        if insert_post(home, post, cap, account, mark_keys[1], 'h' .. reader) then
          redis.call('HINCRBY', account, 'epoch', 1)
          changed = true
        end
      elseif not redis.call('LPOS', home, post) and (below(ends, post) or holds_older(home, post)) then
        local before = head(home)
        push(home, post, cap, slack, account)
        announce(post, before)
      end
    end
    if changed then
      announce()
    end
    return
  end

  local entries, held = redis.call('LRANGE', home, 0, -1), {}
  visit(#entries)
  if ends == '0' or building then
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
  -- Only older posts need the entries of their buckets: finding these takes longer than all the rest.
  local ids = leading_ids(entries)
  local above = (building or not below(floor, fresh[1])) and ceilings_by_bucket(ids, fresh) or {}
  local posts, late = {}, false
  for i = #fresh, 1, -1 do
    if not held[fresh[i]] and (above[i] or not building and below(floor, fresh[i])) then
      posts[#posts + 1] = fresh[i]
      late = late or below(fresh[i], newest)
    end
  end
  if #posts == 0 then
    return
  end
  if building or gap or late and (#posts > FEW or not online) then
    visit(2 * #entries)
    local ceilings, unknown = ceilings_by_bucket(ids, posts)
    if unknown then
      build_again(home)
    else
      add_posts(home, entries, ids, ends, posts, ceilings, gap and not building and '' or ends, cap)
    end
    if unknown or not building then
      redis.call('HINCRBY', account, 'epoch', 1)
      announce()
    end
    return
  end
  for i = #posts, 1, -1 do
    local before = head(home)
    push(home, posts[i], cap, slack, account)
    announce(posts[i], before)
  end
end

-- followed_watermarks returns the pull watermarks of a reader for those of some authors whom the reader follows. It takes few commands,
-- because reads of a home pass all large authors of the partition.
local function followed_watermarks(tag, reader, authors)
  local found, most = {}, 1000
  for from = 1, #authors, most do
    local some = { unpack(authors, from, math.min(from + most - 1, #authors)) }
    local followed = {}
    for i, score in ipairs(scores_of(tag .. 'following:' .. reader, some)) do
      if score then
        followed[#followed + 1] = some[i]
      end
    end
    local stored = #followed > 0 and values_of(tag .. 'pull_watermarks:' .. reader, followed) or {}
    for i, author in ipairs(followed) do
      found[author] = stored[i] or '0'
    end
  end
  return found
end

-- pull_posts adds the new posts of some large authors to a home, as described at add_pulled. It does nothing if the home is
-- missing. The pull watermarks rise last: should an error end the script, the next pull adds what is missing. More new posts than a
-- home holds are not merged: the home is built again.
local function pull_posts(tag, partitions, reader, authors, cap, slack, announce)
  local home, watermarks = tag .. 'home:' .. reader, tag .. 'pull_watermarks:' .. reader
  local ends = redis.call('LINDEX', home, -1)
  if not ends then
    return
  end
  local building = ends == 'b'
  local fresh, author_of, latest, gap = {}, {}, {}, false
  for author, watermark in pairs(followed_watermarks(tag, reader, authors)) do
    visit(2)
    local pulled = tag .. 'pulled:' .. author
    local newest = redis.call('LINDEX', pulled, 0)
    if newest and below(watermark, newest) then
      latest[#latest + 1] = author
      latest[#latest + 1] = newest
      local count, whole = read_pulled(pulled, watermark, author, fresh, author_of, cap)
      gap = gap or (whole and count >= cap)
      if #fresh > cap then
        break
      end
    end
  end
  visit(2 * #fresh)
  if #fresh == 0 then
    return
  elseif #fresh > cap then
    if not building or redis.call('LLEN', home) > 1 then
      build_again(home)
      redis.call('HINCRBY', tag .. 'user:' .. reader, 'epoch', 1)
      announce()
    end
    return
  end
  table.sort(fresh, below)
  add_pulled(tag, partitions, reader, fresh, author_of, gap, ends, cap, slack, announce)
  if not building then
    redis.call('HSET', watermarks, unpack(latest))
  end
end

-- publish_to_home returns the announce function of pull_posts for the nodes that serve a reader's home. A word after the recipient tells them that the
-- entry was pulled; processes of earlier versions ignore it.
local function publish_to_home(nodes, command, channel, tag, reader)
  local name = 'h' .. reader
  local is_hidden = new_hider('h', reader, new_members(tag .. 'following:' .. reader), tag .. 'hidden_reposters:' .. reader)
  return function(post, before)
    if post and not may_repeat(tag .. 'home:' .. reader, post, is_hidden) then
      local sign = is_hidden(post) and '~ ' or '+ '
      publish(nodes, command, channel, sign .. post, { name }, { before .. ' pulled' })
    else
      publish(nodes, command, channel, '!', { name })
    end
  end
end

-- set_pull_watermarks records that a home has, or gets by a merge, all posts that are pulled of some
-- authors now.
local function set_pull_watermarks(tag, reader, authors)
  for _, author in ipairs(authors) do
    local newest = redis.call('LINDEX', tag .. 'pulled:' .. author, 0)
    if newest and redis.call('ZSCORE', tag .. 'following:' .. reader, author) then
      redis.call('HSET', tag .. 'pull_watermarks:' .. reader, author, newest)
    end
  end
end
