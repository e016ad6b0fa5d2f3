-- The rule about repeats: a timeline does not show a repost if one of the REPEATS elements directly below it shows the same post. An
-- element whose post was deleted, or whose repost was undone, shows nothing. Scripts cannot read that, because the records may be in
-- other partitions. So they return the elements that may show the same post.
local REPEATS = 100

-- is_repost reports whether an element is a repost.
local function is_repost(element)
  return #element > ID_DIGITS and string.find(element, '~', 1, true) ~= nil
end

-- same_posts returns the elements that show a post which one of the given elements reposts, as pairs of an index and an element. It
-- searches the given elements, which have the indexes from 1, and those among the REPEATS elements below the last repost. Without
-- reposts it returns nothing, and reads nothing.
--
-- list, from  the list, and the index in it of the first of the elements
-- is_hidden   returns whether the timeline does not show an element for another reason
local function same_posts(list, from, elements, is_hidden)
  local posts, last
  for i = 1, #elements do
    if #elements[i] > ID_DIGITS and is_repost(elements[i]) then
      posts, last = posts or {}, i
      posts[shown(elements[i])] = true
    end
  end
  local found = {}
  if not posts then
    return found
  end
  visit(#elements)
  local function add(i, element)
    if posts[shown(element)] and not is_hidden(element) then
      found[#found + 1] = i
      found[#found + 1] = element
    end
  end
  for i, element in ipairs(elements) do
    add(i, element)
  end
  local below = last + REPEATS - #elements
  if below > 0 then
    from = from + #elements
    for i, element in ipairs(redis.call('LRANGE', list, from, from + below - 1)) do
      add(#elements + i, element)
    end
  end
  return found
end

-- may_repeat reports whether the newest element of a list may be a repost that the timeline does not show.
local function may_repeat(list, element, is_hidden)
  if not is_repost(element) then
    return false
  end
  local post = shown(element)
  for _, other in ipairs(redis.call('LRANGE', list, 1, REPEATS)) do
    -- Most elements do not contain the post, which is faster to see than which post they show.
    if string.find(other, post, 1, true) and shown(other) == post and not is_hidden(other) then
      return true
    end
  end
  return false
end
