-- Some timelines hold replies and reposts that they do not show. Scripts decide whether a timeline shows an element when they read,
-- replay or publish it, because that depends on the current follows of the reader.

-- new_hider returns a function that reports whether a timeline does not show an element. A home shows a reply to another user if it is by
-- the reader, or answers the reader or a user whom the reader follows. A list does the same for its owner and its members. A profile
-- shows no such reply. A home shows no repost by a user whose reposts the reader has hidden. The profile with replies, mentions, hashtags
-- and the public timeline hide nothing. The script must not change what this depends on meanwhile.
--
-- kind       the first letter of the name of the timeline
-- reader     owner of the home or list
-- is_source  returns whether the reader follows a user, or the list has a member
-- reposters  for a home, key of the users whose reposts it does not show
local function new_hider(kind, reader, is_source, reposters)
  local hides_replies = kind == 'h' or kind == 'l' or kind == 'u'
  local hides_reposters -- whether there are any, once that was read: most readers have hidden none, and a timeline may have many reposts
  return function(element)
    if #element <= ID_DIGITS or not hides_replies then
      return false
    end
    visit(1)
    local reposter = reposter_of(element)
    if reposter then
      if kind == 'h' and hides_reposters == nil then
        hides_reposters = redis.call('EXISTS', reposters) == 1
      end
      return hides_reposters and redis.call('SISMEMBER', reposters, reposter) == 1
    end
    local author, answered = answered_by(element)
    if not answered then
      return false
    end
    return kind == 'u' or author ~= reader and answered ~= reader and not is_source(answered)
  end
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
