package graph

import (
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"retwis/internal/retwis"
)

// faults makes resolvers fail in every possible way. The field, its object and the seed alone
// determine the failure, so it is independent of the time, the order and the goroutine of the
// call.
type faults struct {
	hash maphash.Seed
	seed uint64
	rate uint64 // percentage of spoiled results
}

func (s *faults) pick(field string, object any, of string) uint64 {
	var h maphash.Hash
	h.SetSeed(s.hash)
	fmt.Fprint(&h, s.seed, field, of)
	switch o := object.(type) {
	case *retwis.User:
		fmt.Fprint(&h, o.ID)
	case *retwis.Post:
		fmt.Fprint(&h, o.ID)
	case *retwis.List:
		fmt.Fprint(&h, o.ID)
	case *retwis.Timeline:
		fmt.Fprint(&h, o.ID)
	}
	return h.Sum64()
}

var errInjected = errors.New("spoiled")

// spoil returns the result of a resolver, or spoils it.
func spoil[T any](s *faults, field string, object any, resolve func() (T, error)) (T, error) {
	v, err := resolve()
	if limit, ok := any(v).(*RateLimitPayload); ok && limit != nil {
		fixed := *limit         // equal fields share it
		fixed.ResetAt = newYear // it depends on the current time
		v, _ = any(&fixed).(T)
	}
	if s.pick(field, object, "whether")%100 >= s.rate {
		return v, err
	}
	var nothing T
	how := s.pick(field, object, "how")
	switch how % 8 {
	case 0:
		return nothing, nil
	case 1:
		return nothing, errInjected
	case 2:
		return v, retwis.Errorf(retwis.CodeForbidden, "not for you")
	case 3:
		panic("spoiled " + field)
	case 4:
		return v, fmt.Errorf("wrapped: %w", retwis.ErrNotFound)
	}
	if _, ok := any(&nothing).(*Node); ok {
		nodes := []any{(*retwis.User)(nil), retwis.Viewer{ID: 1025}, "unexpected", retwis.Post{ID: 5}, 7}
		return nodes[how/8%uint64(len(nodes))].(T), err
	}
	worse, ok := s.worsen(v, how/8).(T)
	if !ok {
		return nothing, err
	}
	return worse, err
}

// worsen returns a value with an invalid part.
func (s *faults) worsen(v any, how uint64) any {
	switch v := v.(type) {
	case *retwis.User:
		return worseUser(v)
	case []*retwis.User:
		if len(v) == 0 {
			return []*retwis.User{nil}
		}
		worse := append([]*retwis.User{}, v...)
		worse[how%uint64(len(v))] = nil
		return worse
	case []Node:
		return append([]Node{nil, (*retwis.Post)(nil), retwis.User{ID: 3}, []any{"unexpected", nil}[how%2]}, v...)
	case *PostConnection:
		return worsePosts(v, how)
	case *UserConnection:
		return worseUsers(v, how)
	case *ListConnection:
		if v == nil || len(v.Edges) == 0 {
			return v
		}
		worse := *v
		worse.Edges = append([]retwis.ListEdge{}, v.Edges...)
		worse.Edges[0].List = nil
		return &worse
	case retwis.TimelineKind:
		return retwis.TimelineKind('?')
	case *SessionPayload:
		return &SessionPayload{User: worseUser(&retwis.User{}), UserErrors: worseErrors(how)}
	case *CreatePostPayload:
		return &CreatePostPayload{Edge: &retwis.PostEdge{}, UserErrors: worseErrors(how)}
	case *FollowPayload:
		return &FollowPayload{User: nil, Viewer: &retwis.Viewer{ID: 9}, UserErrors: worseErrors(how)}
	case *CreateListPayload:
		return &CreateListPayload{List: &retwis.List{Name: "\x00\u2028\xff\"\\"}, UserErrors: worseErrors(how)}
	default:
		return v
	}
}

func worseUser(v *retwis.User) *retwis.User {
	if v == nil {
		return nil
	}
	worse := *v
	worse.CreatedAt = time.Time{}
	worse.Bio = "\x00\x1f\t\r\n\"\\\u2028\xff\U0001F600</script>"
	worse.PostCount = -1 << 62
	return &worse
}

func worsePosts(v *PostConnection, how uint64) any {
	if v == nil {
		return v
	}
	worse := *v
	switch how % 4 {
	case 0:
		worse.Edges = nil
	case 1:
		worse.PageInfo = PageInfo{}
	default:
		worse.Edges = append([]retwis.PostEdge{}, v.Edges...)
		for i := range worse.Edges {
			switch (how / 4 >> (2 * i)) % 4 {
			case 0:
				worse.Edges[i].Post = nil
			case 1:
				post := *worse.Edges[i].Post
				post.CreatedAt, post.AuthorID = time.Time{}, 77
				worse.Edges[i].Post = &post
			}
		}
	}
	return &worse
}

func worseUsers(v *UserConnection, how uint64) any {
	if v == nil {
		return v
	}
	worse := *v
	worse.Edges = append([]retwis.Follow{}, v.Edges...)
	for i := range worse.Edges {
		switch (how >> (2 * i)) % 4 {
		case 0:
			worse.Edges[i].User = nil
		case 1:
			worse.Edges[i].FollowedAt = time.Time{}
		case 2:
			worse.Edges[i].User = worseUser(worse.Edges[i].User)
		}
	}
	return &worse
}

func worseErrors(how uint64) []*retwis.Error {
	return [][]*retwis.Error{
		nil,
		{nil},
		{{Code: "NO_SUCH_CODE", Message: "x", Field: []string{"input", "\n"}}, retwis.ErrNameTaken},
		{retwis.ErrNotOwner, nil, {Field: []string{}}},
	}[how%4]
}
