package engine

import (
	"context"
	"crypto/rand"
	"fmt"

	"retwis/internal/bench/measure"
	"retwis/internal/bench/world"
	"retwis/internal/retwis"
)

// Elements measures the delivery of replies and of reposts to 10 000 followers, most of whom do not see the replies. The baseline is the
// delivery of posts to the same followers. The three take turns, and a figure is the median of their rounds.
func Elements(ctx context.Context, r *measure.Run) error {
	const kept = 800 // entries of each home timeline
	followers, posts, rounds := r.Size(10_000, 20), r.Size(30, 5), r.Size(7, 1)
	w, author, err := startWithAuthor(ctx, followers)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.FillHomes(ctx, kept, retwis.Plain); err != nil {
		return err
	}
	var ofReply, ofRepost, ofPost []float64
	for round := range rounds + 1 {
		rate, err := deliver(ctx, w, author, posts, followers)
		if err != nil {
			return err
		}
		strangers, err := addStrangersPosts(ctx, w, round, posts)
		if err != nil {
			return err
		}
		replyRate, err := deliverReferences(ctx, w, strangers, followers, func(to retwis.PostID) error {
			_, err := w.Posts.CreatePost(ctx, retwis.NewPost{Author: author, Text: world.PostText, InReplyTo: to, IdempotencyKey: rand.Text()})
			return err
		})
		if err != nil {
			return err
		}
		repostRate, err := deliverReferences(ctx, w, strangers, followers, func(of retwis.PostID) error {
			_, err := w.Posts.Repost(ctx, author, of)
			return err
		})
		if err != nil {
			return err
		}
		if round > 0 { // the first one is to warm up
			ofPost, ofReply, ofRepost = append(ofPost, 1e6/rate), append(ofReply, 1e6/replyRate), append(ofRepost, 1e6/repostRate)
		}
	}
	add := func(element string, costs []float64) {
		r.Add(measure.Figure{
			Name: fmt.Sprintf("cost per delivery of a %s, %d followers", element, followers), Unit: "µs", Value: measure.Median(costs),
			Beside: []measure.Baseline{{Name: "of a post", Value: measure.Median(ofPost), Goal: measure.AtMost(1.3)}},
		})
	}
	add("reply", ofReply)
	add("repost", ofRepost)
	return nil
}

// addStrangersPosts creates posts of somebody whom nobody follows.
func addStrangersPosts(ctx context.Context, w *world.World, round, posts int) ([]retwis.PostID, error) {
	users, err := w.AddUsers(ctx, fmt.Sprint("stranger", round), 1)
	if err != nil {
		return nil, err
	}
	ids := make([]retwis.PostID, posts)
	for i := range ids {
		edge, err := w.Posts.CreatePost(ctx, retwis.NewPost{Author: users[0], Text: world.PostText, IdempotencyKey: rand.Text()})
		if err != nil {
			return nil, err
		}
		ids[i] = edge.Post.ID
	}
	_, err = drain(ctx, w, int64(posts)) // they go to the public timeline
	return ids, err
}

// deliverReferences is [deliver] for replies to posts, or for reposts, which create makes.
func deliverReferences(ctx context.Context, w *world.World, posts []retwis.PostID, followers int, create func(retwis.PostID) error) (float64, error) {
	for _, post := range posts {
		if err := create(post); err != nil {
			return 0, err
		}
	}
	elapsed, err := drain(ctx, w, int64(len(posts)*followers+len(posts))) // they go to the set of the post, too
	return float64(len(posts)*followers) / elapsed.Seconds(), err
}
