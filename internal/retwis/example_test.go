package retwis_test

import (
	"errors"
	"fmt"

	"retwis/internal/retwis"
)

// The text of a post is trimmed and composed. A refused text is a user error with a message for the user.
func ExampleNormalizePostText() {
	text, err := retwis.NormalizePostText("  cafe\u0301\r\n")
	fmt.Printf("%q %v\n", text, err)
	_, err = retwis.NormalizePostText("a\u202eb")
	if e, ok := errors.AsType[*retwis.Error](err); ok {
		fmt.Println(e.Code, e.Field, e.Message)
	}
	// Output:
	// "café" <nil>
	// INVALID [input text] remove the character U+202E: control characters and invisible characters are not allowed
}

// A cursor contains a position. It is valid only in the timeline that returned it.
func ExampleCursor() {
	position := retwis.TimelinePosition{Timeline: retwis.Home(1025), Epoch: 3, Element: retwis.Plain(28_000_000_000_037_005)}
	cursor := position.Cursor()
	read, err := cursor.TimelinePosition(retwis.Home(1025))
	fmt.Println(read == position, err)
	_, err = cursor.TimelinePosition(retwis.Home(2049))
	fmt.Println(err)
	// Output:
	// true <nil>
	// the cursor does not belong to this connection
}

func ExampleMentionedNames() {
	fmt.Println(retwis.MentionedNames("@Ada and @grace_h, mail me@example.com"))
	// Output: [ada grace_h]
}

// A post must contain all words of one entry, and meet the other criteria.
func ExampleFilter() {
	filter, err := retwis.NewFilter(retwis.TimelineFilter{Track: []string{"redis lua", "go"}, Authors: []retwis.UserID{1025}})
	if err != nil {
		fmt.Println(err)
		return
	}
	words := func(p *retwis.Post) retwis.Words { return retwis.WordsOf(p.Text) }
	for _, post := range []retwis.Post{
		{ID: 1, AuthorID: 1025, Text: "Lua scripts in Redis"},
		{ID: 2, AuthorID: 1025, Text: "Redis alone"},
		{ID: 3, AuthorID: 2049, Text: "Go!"},
	} {
		fmt.Println(post.Text, filter.Passes(&post, words))
	}
	// Output:
	// Lua scripts in Redis true
	// Redis alone false
	// Go! false
}
