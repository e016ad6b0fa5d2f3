-- Some timelines hold replies and reposts that they do not show. Scripts decide whether a timeline shows an element when they read,
-- replay or publish it, because that depends on the current follows of the reader.

-- hides reports whether a timeline does not show an element. A home shows a reply to another user if it is by the
-- reader, or answers the reader or a user whom the reader follows. A list does the same for its owner and its members. A profile
-- shows no such reply. A home shows no repost by a user whose reposts the reader has hidden. The profile with replies, mentions, hashtags
-- and the public timeline hide nothing.
--
-- kind       the first letter of the name of the timeline
-- reader     owner of the home or list
-- is_source  returns whether the reader follows a user, or the list has a member
-- reposters  for a home, key of the users whose reposts it does not show
local function hides(kind, reader, is_source, reposters, element)
  if #element <= ID_DIGITS or kind ~= 'h' and kind ~= 'l' and kind ~= 'u' then
    return false
  end
  visit(1)
  local reposter = reposter_of(element)
  if reposter then
    return kind == 'h' and redis.call('SISMEMBER', reposters, reposter) == 1
  end
  local author, answered = answered_by(element)
  if not answered then
    return false
  end
  return kind == 'u' or author ~= reader and answered ~= reader and not is_source(answered)
end

-- hidden_among returns the indexes of the elements that a timeline hides.
local function hidden_among(elements, is_hidden)
  local hidden = {}
  for i, element in ipairs(elements) do
    if is_hidden(element) then
      hidden[#hidden + 1] = i
    end
  end
  return hidden
end
