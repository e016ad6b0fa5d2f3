package store_test

import (
	"context"
	"fmt"

	"retwis/internal/embedded"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// A store needs only the URL of a Redis. The author's own profile shows a post at once; a fan-out worker delivers it to
// the home timelines of followers.
func ExampleOpen() {
	ctx := context.Background()
	redis, err := embedded.Start(ctx, embedded.Options{Memory: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = redis.Close(ctx) }()
	db, err := store.Open(ctx, store.Options{URL: redis.URL()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()

	ada, err := db.Accounts.Register(ctx, retwis.Registration{Username: "ada", DisplayName: "Ada", PasswordHash: "hash"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, text := range []string{"first", "second", "third"} {
		post := retwis.NewPost{Author: ada.ID, Text: text, IdempotencyKey: fmt.Sprint(i)}
		if _, err := db.Posts.CreatePost(ctx, post); err != nil {
			fmt.Println(err)
			return
		}
	}
	page, err := db.Timelines.Page(ctx, retwis.Profile(ada.ID), retwis.Page{First: 2})
	for _, edge := range page.Edges {
		fmt.Println(edge.Post.Text)
	}
	fmt.Println(page.HasNextPage, err)
	// Output:
	// third
	// second
	// true <nil>
}
