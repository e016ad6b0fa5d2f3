package workload

import (
	"context"
	"slices"

	"retwis/internal/torture/history"
)

const threadsQuery = `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Post { text replyCount
	replies(first: 20) { edges { node { text } } pageInfo { hasNextPage } }
	repostCount likeCount likers(first: 20) { edges { node { username } } pageInfo { hasNextPage } } } } }`

// threads records the replies, likes and reposts of all posts that exist, except of those, which are rare, with more than one page of either.
func (u *User) threads(ctx context.Context) error {
	for batch := range slices.Chunk(u.posts.ids(), 10) {
		var data struct {
			Nodes []*struct {
				Text       string
				ReplyCount int
				Replies    struct {
					Edges    textEdges
					PageInfo pageInfo
				}
				LikeCount   int
				RepostCount int
				Likers      struct {
					Edges    nameEdges
					PageInfo pageInfo
				}
			}
		}
		if err := u.persist(ctx, threadsQuery, map[string]any{"ids": batch}, &data); err != nil {
			return err
		}
		for _, post := range data.Nodes {
			if post != nil && !post.Replies.PageInfo.HasNextPage && !post.Likers.PageInfo.HasNextPage {
				u.recorder.Thread(history.Thread{
					Text: post.Text, Replies: post.Replies.Edges.texts(), Count: post.ReplyCount,
					Likers: post.Likers.Edges.names(), Likes: post.LikeCount, Reposts: post.RepostCount,
				})
			}
		}
	}
	return nil
}
