package engine

import (
	"context"
	"crypto/rand"
	"fmt"

	"retwis/internal/bench/measure"
	"retwis/internal/bench/world"
	"retwis/internal/retwis"
)

// Replies measures the delivery of replies to 10 000 followers, most of whom do not see them. The baseline is the delivery of
// posts to the same followers. The two alternate, and the figure is the median of their rounds.
func Replies(ctx context.Context, r *measure.Run) error {
	const kept = 800 // entries of each home timeline
	followers, posts, rounds := r.Size(10_000, 20), r.Size(30, 5), r.Size(7, 1)
	w, author, err := startWithAuthor(ctx, followers)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.FillHomes(ctx, kept); err != nil {
		return err
	}
	question, err := addQuestion(ctx, w)
	if err != nil {
		return err
	}
	var ofReply, ofPost []float64
	for round := range rounds + 1 {
		rate, err := deliver(ctx, w, author, posts, followers)
		if err != nil {
			return err
		}
		replyRate, err := deliverReplies(ctx, w, author, question, posts, followers)
		if err != nil {
			return err
		}
		if round > 0 { // the first one is to warm up
			ofPost, ofReply = append(ofPost, 1e6/rate), append(ofReply, 1e6/replyRate)
		}
	}
	r.Add(measure.Figure{
		Name: fmt.Sprintf("cost per delivery of a reply, %d followers", followers), Unit: "µs", Value: measure.Median(ofReply),
		Beside: []measure.Baseline{{Name: "of a post", Value: measure.Median(ofPost), Goal: measure.AtMost(1.3)}},
	})
	return nil
}

// addQuestion creates a post of somebody whom nobody follows.
func addQuestion(ctx context.Context, w *world.World) (retwis.PostID, error) {
	users, err := w.AddUsers(ctx, "asker", 1)
	if err != nil {
		return 0, err
	}
	edge, err := w.Posts.CreatePost(ctx, retwis.NewPost{Author: users[0], Text: world.PostText, IdempotencyKey: rand.Text()})
	if err != nil {
		return 0, err
	}
	_, err = drain(ctx, w, 1)
	return edge.Post.ID, err
}

// deliverReplies is [deliver] for replies of the author to a post.
func deliverReplies(ctx context.Context, w *world.World, author retwis.UserID, to retwis.PostID, replies, followers int) (float64, error) {
	for range replies {
		reply := retwis.NewPost{Author: author, Text: world.PostText, InReplyTo: to, IdempotencyKey: rand.Text()}
		if _, err := w.Posts.CreatePost(ctx, reply); err != nil {
			return 0, err
		}
	}
	elapsed, err := drain(ctx, w, int64(replies*followers+replies)) // replies go to the set of the post answered, too
	return float64(replies*followers) / elapsed.Seconds(), err
}
