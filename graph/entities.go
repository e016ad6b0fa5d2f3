package graph

import (
	"cmp"
	"context"
	"slices"

	"retwis/graph/loaders"
	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// maxBioMentions is the number of different usernames that are looked up in a bio.
const maxBioMentions = 10

// TextEntity is a part of a text: a [*TextLink], a [*TextMention] or a [*TextHashtag].
type TextEntity interface{ textRange() retwis.TextRange }

// TextLink is a URL in a text.
type TextLink struct {
	retwis.TextRange
	URL string
}

// TextMention is the mention of a user in a text.
type TextMention struct {
	retwis.TextRange
	User *retwis.User
}

// TextHashtag is a hashtag in a text.
type TextHashtag struct {
	retwis.TextRange
	Name   string       // as the text has it
	folded string       // see [retwis.FoldTag]
	id     retwis.TagID // 0 if the post is not on a timeline of the hashtag
}

func (l *TextLink) textRange() retwis.TextRange    { return l.TextRange }
func (m *TextMention) textRange() retwis.TextRange { return m.TextRange }
func (h *TextHashtag) textRange() retwis.TextRange { return h.TextRange }

// postEntities returns the links and hashtags in the text of a post, and the mentions of users who exist.
func postEntities(ctx context.Context, post *retwis.Post) ([]TextEntity, error) {
	users, err := mentions(ctx, post)
	if err != nil {
		return nil, err
	}
	entities, err := textEntities(ctx, post.Text, users)
	if err != nil {
		return nil, err
	}
	if err := payForFolding(ctx, post.Text); err != nil {
		return nil, err
	}
	entities = append(entities, hashtags(post)...)
	sortEntities(entities)
	return entities, nil
}

// hashtags returns the hashtags in the text of a post. The post stores the ids of its different hashtags in the order of the text.
func hashtags(post *retwis.Post) []TextEntity {
	var found []TextEntity
	ids, left := map[string]retwis.TagID{}, post.Tags
	for _, tag := range retwis.FindHashtags(post.Text) {
		id, seen := ids[tag.Folded]
		if !seen && len(left) > 0 {
			id, left = left[0], left[1:]
			ids[tag.Folded] = id
		}
		found = append(found, &TextHashtag{tag.TextRange, tag.Name, tag.Folded, id})
	}
	return found
}

// payForFolding charges for the folding of the hashtags in a text.
func payForFolding(ctx context.Context, text string) error {
	return cost.Walk(ctx, retwis.FoldedBytes(text)*rowsPerFoldedByte)
}

// tag returns the hashtag of a part of a text, or nil.
func (h *TextHashtag) tag(ctx context.Context) (*retwis.Tag, error) {
	if h.id == 0 {
		return nil, nil
	}
	tag, err := loaders.From(ctx).Tags.Load(ctx, h.id)
	if err != nil || tag == nil || tag.Name == h.Name {
		return tag, err
	}
	rows := rowsPerFoldedName + retwis.FoldedBytes("#"+tag.Name)*rowsPerFoldedByte + len(tag.Name)/bytesPerFoldedRow
	if err := cost.Walk(ctx, rows); err != nil {
		return nil, err
	}
	if retwis.FoldTag(tag.Name) != h.folded {
		return nil, nil
	}
	return tag, nil
}

// bioEntities returns the links in the bio of a user, and the mentions of users who exist.
func bioEntities(ctx context.Context, user *retwis.User) ([]TextEntity, error) {
	return loaders.Once(ctx, bioKey{user, "entities"}, func() ([]TextEntity, error) { return readBioEntities(ctx, user) })
}

// bioKey names a part of the bio of a user for [loaders.Once].
type bioKey struct {
	of   *retwis.User
	part string
}

func readBioEntities(ctx context.Context, user *retwis.User) ([]TextEntity, error) {
	names, err := bioMentions(ctx, user)
	if err != nil {
		return nil, err
	}
	reads := make([]func() (*retwis.User, error), len(names))
	for i, name := range names {
		reads[i] = loaders.From(ctx).UsersByName.LoadThunk(ctx, name)
	}
	users := make([]*retwis.User, 0, len(names))
	for _, read := range reads {
		user, err := read()
		if err != nil {
			return nil, err
		}
		if user != nil {
			users = append(users, user)
		}
	}
	return textEntities(ctx, user.Bio, users)
}

// bioMentions returns the folded usernames to look up in the bio of a user.
func bioMentions(ctx context.Context, user *retwis.User) ([]string, error) {
	return loaders.Once(ctx, bioKey{user, "mentions"}, func() ([]string, error) {
		if err := cost.Walk(ctx, len(user.Bio)/bytesPerRow); err != nil {
			return nil, err
		}
		names := retwis.MentionedNames(user.Bio)
		return names[:min(len(names), maxBioMentions)], nil
	})
}

const (
	bytesPerRow       = 2 // bytes of a text that are searched in the time that Redis takes to read a row
	bytesPerFoldedRow = 8 // bytes of the name of a hashtag that is folded alone, ASCII or not
	rowsPerFoldedByte = 2 // rows that it reads while a byte of a hashtag is folded
	rowsPerFoldedName = 2 // and for a name, however short it is
)

// textEntities returns the links in a text, and the mentions of these users.
func textEntities(ctx context.Context, text string, mentioned []*retwis.User) ([]TextEntity, error) {
	if err := cost.Walk(ctx, len(text)/bytesPerRow); err != nil {
		return nil, err
	}
	entities := []TextEntity{}
	for _, link := range retwis.FindLinks(text) {
		entities = append(entities, &TextLink{link.TextRange, link.URL})
	}
	if len(mentioned) == 0 {
		return entities, nil
	}
	users := make(map[string]*retwis.User, len(mentioned))
	for _, user := range mentioned {
		users[retwis.FoldUsername(user.Username)] = user
	}
	for _, mention := range retwis.FindMentions(text) {
		if user := users[mention.Name]; user != nil {
			entities = append(entities, &TextMention{mention.TextRange, user})
		}
	}
	sortEntities(entities)
	return entities, nil
}

func sortEntities(entities []TextEntity) {
	slices.SortFunc(entities, func(a, b TextEntity) int { return cmp.Compare(a.textRange().Start, b.textRange().Start) })
}
