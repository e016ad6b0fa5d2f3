package graph

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/retwis"
)

// A global id is the base64url encoding, without padding, of the name of a type, a colon, and the id within that type:
// User:123, Post:123, Timeline:h123, List:123, Tag:123, Viewer:123, Session:123.abc. An object has exactly one global id, so clients
// can compare them.
const (
	userType     = "User"
	postType     = "Post"
	timelineType = "Timeline"
	listType     = "List"
	tagType      = "Tag"
	viewerType   = "Viewer"
	sessionType  = "Session"
)

// maxGlobalID bounds the length of a global id.
const maxGlobalID = 64

func globalID(typeName, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(typeName + ":" + id))
}

func globalUserID(id retwis.UserID) string         { return globalID(userType, id.String()) }
func globalPostID(id retwis.PostID) string         { return globalID(postType, id.String()) }
func globalTimelineID(id retwis.TimelineID) string { return globalID(timelineType, id.String()) }
func globalListID(id retwis.ListID) string         { return globalID(listType, id.String()) }
func globalTagID(id retwis.TagID) string           { return globalID(tagType, id.String()) }
func globalViewerID(id retwis.UserID) string       { return globalID(viewerType, id.String()) }
func globalSessionID(id retwis.SessionID) string   { return globalID(sessionType, id.String()) }

// parseGlobalID returns the id in a global id: a [retwis.UserID], [retwis.PostID], [retwis.TimelineID], [retwis.ListID], [retwis.TagID],
// [retwis.SessionID] or [retwis.Viewer]. It returns nil for an id that this API never returns.
func parseGlobalID(id string) any {
	if len(id) > maxGlobalID {
		return nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(id)
	if err != nil {
		return nil
	}
	typeName, key, _ := strings.Cut(string(b), ":")
	if globalID(typeName, key) != id { // the decoder ignores line breaks
		return nil
	}
	switch typeName {
	case userType:
		return orNil(retwis.ParseUserID(key))
	case postType:
		return orNil(retwis.ParsePostID(key))
	case timelineType:
		return orNil(retwis.ParseTimelineID(key))
	case listType:
		return orNil(retwis.ParseListID(key))
	case tagType:
		return orNil(retwis.ParseTagID(key))
	case sessionType:
		return orNil(retwis.ParseSessionID(key))
	case viewerType:
		if user, err := retwis.ParseUserID(key); err == nil {
			return retwis.Viewer{ID: user}
		}
	}
	return nil
}

func orNil[T any](id T, err error) any {
	if err != nil {
		return nil
	}
	return id
}

// The generated code calls the functions below for ids of these Go types.

// MarshalUserID encodes the global id of a user.
func MarshalUserID(id retwis.UserID) graphql.Marshaler {
	return graphql.MarshalString(globalUserID(id))
}

// UnmarshalUserID parses the global id of a user.
func UnmarshalUserID(v any) (retwis.UserID, error) { return unmarshalID[retwis.UserID](v) }

// MarshalPostID encodes the global id of a post.
func MarshalPostID(id retwis.PostID) graphql.Marshaler {
	return graphql.MarshalString(globalPostID(id))
}

// UnmarshalPostID parses the global id of a post.
func UnmarshalPostID(v any) (retwis.PostID, error) { return unmarshalID[retwis.PostID](v) }

// MarshalTimelineID encodes the global id of a timeline.
func MarshalTimelineID(id retwis.TimelineID) graphql.Marshaler {
	return graphql.MarshalString(globalTimelineID(id))
}

// UnmarshalTimelineID parses the global id of a timeline.
func UnmarshalTimelineID(v any) (retwis.TimelineID, error) {
	return unmarshalID[retwis.TimelineID](v)
}

// MarshalListID encodes the global id of a list.
func MarshalListID(id retwis.ListID) graphql.Marshaler {
	return graphql.MarshalString(globalListID(id))
}

// UnmarshalListID parses the global id of a list.
func UnmarshalListID(v any) (retwis.ListID, error) { return unmarshalID[retwis.ListID](v) }

// MarshalTagID encodes the global id of a hashtag.
func MarshalTagID(id retwis.TagID) graphql.Marshaler {
	return graphql.MarshalString(globalTagID(id))
}

// UnmarshalTagID parses the global id of a hashtag.
func UnmarshalTagID(v any) (retwis.TagID, error) { return unmarshalID[retwis.TagID](v) }

// MarshalSessionID encodes the global id of a session.
func MarshalSessionID(id retwis.SessionID) graphql.Marshaler {
	return graphql.MarshalString(globalSessionID(id))
}

// UnmarshalSessionID parses the global id of a session.
func UnmarshalSessionID(v any) (retwis.SessionID, error) {
	return unmarshalID[retwis.SessionID](v)
}

func unmarshalID[T any](v any) (T, error) {
	s, _ := v.(string)
	id, ok := parseGlobalID(s).(T)
	if !ok {
		return id, badInput("%v is not an id of the expected type", v)
	}
	return id, nil
}

// Plans call the functions below in place of the marshalers of the same names.

func appendUserID(b []byte, id retwis.UserID) []byte {
	return appendNumberedID(b, userType, int64(id))
}

func appendPostID(b []byte, id retwis.PostID) []byte {
	return appendNumberedID(b, postType, int64(id))
}

func appendListID(b []byte, id retwis.ListID) []byte {
	return appendNumberedID(b, listType, int64(id))
}

func appendTagID(b []byte, id retwis.TagID) []byte {
	return appendNumberedID(b, tagType, int64(id))
}

// appendNumberedID appends a global id of a type whose ids are numbers.
func appendNumberedID(b []byte, typeName string, id int64) []byte {
	var plain [maxGlobalID]byte
	text := append(plain[:0], typeName...)
	text = append(text, ':')
	text = strconv.AppendInt(text, id, 10)
	b = append(b, '"')
	b = base64.RawURLEncoding.AppendEncode(b, text)
	return append(b, '"')
}
