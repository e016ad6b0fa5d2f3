package graph

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/bulk"
)

// Sizes of the database of [TestPrices_BoundTheWorkOfRandomOperations].
const (
	pricedUsers   = 3_000
	pricedFollows = 100 // of each of these users
	pricedPosts   = 20_000
	pricedFans    = 5_000 // followers of the author, the users among them
	pricedReader  = 4_900 // users whom the reader follows
)

// pricedDB is a large database, and an API on it. Nothing else uses the connections of the API.
type pricedDB struct {
	*api
	server   *redistest.Node
	reader   *retwis.User
	exchange *exchanges          // of the API with Redis
	literals map[string][]string // values for arguments, by type name
	deep     string              // a cursor below the stored part of the home timeline of the reader
}

func newPricedDB(t *testing.T) *pricedDB {
	t.Helper()
	server := redistest.Server(t)
	seeding := openStore(t, server)
	random := rand.New(rand.NewPCG(14, 5))
	importer := bulk.New(seeding)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// The author is the first user, the reader the second.
	ids := make([]retwis.UserID, 0, pricedFans+1)
	var registrations []retwis.Registration
	for i := range cap(ids) {
		registrations = append(registrations, retwis.Registration{
			Username: fmt.Sprint("user", i), DisplayName: fmt.Sprint("User ", i), PasswordHash: "x",
			Bio: fmt.Sprintf("The bio of user %d, a friend of @user%d.", i, random.IntN(pricedUsers)), CreatedAt: time.Now().Add(-time.Hour),
		})
	}
	for some := range slices.Chunk(registrations, 1_000) {
		made, err := importer.RegisterAll(t.Context(), some)
		must(err)
		ids = append(ids, made...)
	}
	// The authors have no followers yet, so the posts need no delivery.
	imports := make([]retwis.PostImport, pricedUsers)
	for i := range imports {
		imports[i] = retwis.PostImport{Author: ids[i], Source: "test"}
		for n := range (pricedPosts + pricedUsers - 1) / pricedUsers {
			imports[i].Posts = append(imports[i].Posts, retwis.PastPost{
				Text:      fmt.Sprintf("Post %d of user %d, which mentions @user%d. https://example.com/%d", n, i, random.IntN(pricedUsers), n),
				CreatedAt: time.Now().Add(time.Duration(n*pricedUsers+i-2*pricedPosts) * time.Second),
			})
		}
	}
	for some := range slices.Chunk(imports, 500) {
		_, err := importer.ImportPosts(t.Context(), some)
		must(err)
	}
	must(importer.ImportPublicTimeline(t.Context(), ids[:pricedUsers]))
	follows := make([]retwis.Followings, len(ids)-1)
	for i := range follows {
		authors := []retwis.UserID{ids[0]}
		switch {
		case i == 0:
			authors = ids[2 : 2+pricedReader]
		case i < pricedUsers:
			for _, n := range random.Perm(pricedUsers - 1)[:pricedFollows-1] {
				authors = append(authors, ids[n+1])
			}
		}
		follows[i] = retwis.Followings{Reader: ids[i+1], Authors: authors}
	}
	follows[0].Authors = append(follows[0].Authors, ids[0])
	for some := range slices.Chunk(follows, 500) {
		_, err := importer.FollowAll(t.Context(), some)
		must(err)
	}

	service := openStore(t, server)
	db := &pricedDB{api: newAPI(Options{}), server: server, exchange: &exchanges{}}
	db.serve(&Resolver{
		Accounts: db.fakeBackend, Users: service.Accounts, Posts: service.Posts, Reposts: service.Posts, Likes: service.Likes, Follows: service.Follows, Lists: service.Lists, Tags: service.Tags,
		Timelines: service.Timelines, Live: db.fakeBackend, Limits: unlimited{},
	}, Options{Introspection: true})
	users, err := service.Accounts.Users(t.Context(), ids[1:2])
	must(err)
	db.reader = users[0]
	list, err := seeding.Lists.CreateList(t.Context(), db.reader.ID, "list", "")
	must(err)
	for _, member := range ids[2:22] {
		must(seeding.Lists.AddListMember(t.Context(), db.reader.ID, list.ID, member))
	}
	for i := range 100 { // no worker delivers them, so they are on the profile of the third user
		text := ""
		for n := range retwis.MaxPostTags {
			text += fmt.Sprintf("#a%dx%d ", i, n)
		}
		_, err := seeding.Posts.CreatePost(t.Context(), retwis.NewPost{Author: ids[2], Text: text, IdempotencyKey: fmt.Sprint("tags", i)})
		must(err)
	}
	liked, err := service.Timelines.Page(t.Context(), retwis.Public(), retwis.Page{First: 100})
	must(err)
	for i, edge := range liked.Edges {
		for _, user := range ids[1 : 2+10*(i%2)] {
			must(service.Likes.Like(t.Context(), user, edge.Post.ID))
		}
	}
	page, err := service.Timelines.Page(t.Context(), retwis.Home(db.reader.ID), retwis.Page{First: 100})
	must(err)
	public, err := service.Timelines.Page(t.Context(), retwis.Public(), retwis.Page{First: 100})
	must(err)
	db.deep = string(retwis.TimelinePosition{
		Timeline: retwis.Home(db.reader.ID), Epoch: mustPosition(t, page.LiveCursor, retwis.Home(db.reader.ID)).Epoch,
		Element: retwis.Plain(firstPost(t, seeding, ids[2:22])), Deep: true,
	}.Cursor())
	db.literals = map[string][]string{
		"Int": {"20", "5", "100", "50", "1"}, "Float": {"0.5"}, "Boolean": {"true", "false"},
		"String": quoted("user0", "user1", "user2", "user", "user 1", "user1000"),
		"ID": quoted(globalUserID(ids[0]), globalUserID(ids[1]), globalUserID(ids[2]), globalPostID(page.Edges[0].Post.ID),
			globalTimelineID(retwis.Home(ids[1])), globalTimelineID(retwis.Public()), globalViewerID(ids[1]),
			globalListID(list.ID), globalTimelineID(retwis.ListPosts(list.ID)), globalTimelineID(retwis.Profile(ids[0]))),
		"Cursor": quoted(string(page.Edges[99].Cursor), db.deep, string(page.Edges[50].Cursor), string(public.Edges[50].Cursor)),
	}
	service.DB().Client.AddHook(db.exchange)
	return db
}

// openStore opens the database of a server on connections of its own.
func openStore(t *testing.T, server *redistest.Node) *store.Store {
	t.Helper()
	opened, err := store.Open(t.Context(), store.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

func mustPosition(t *testing.T, cursor retwis.Cursor, of retwis.TimelineID) retwis.TimelinePosition {
	t.Helper()
	at, err := cursor.TimelinePosition(of)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// firstPost returns the third of the oldest posts of some users.
func firstPost(t *testing.T, db *store.Store, authors []retwis.UserID) retwis.PostID {
	t.Helper()
	found, err := db.Timelines.ReadProfiles(t.Context(), authors, make([]retwis.PostID, len(authors)), false, 3)
	if err != nil {
		t.Fatal(err)
	}
	return slices.MaxFunc(slices.Concat(found...), func(a, b retwis.Element) int { return cmp.Compare(a.ID, b.ID) }).ID
}

func quoted(values ...string) []string {
	for i, v := range values {
		values[i] = fmt.Sprintf("%q", v)
	}
	return values
}
