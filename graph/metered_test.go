package graph

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/graph/limits"
	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

// Attack: the bytes of a response are bounded while it is written, whichever fields it selects.
func TestResponses_AreBounded(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{Introspection: true})
	author := a.addUser("alice")
	author.Bio = strings.Repeat("b", 4_000)
	for range 100 {
		a.addPost(author, strings.Repeat("\"", retwis.MaxPostBytes))
	}
	page := func(selection string) string {
		return `{ publicTimeline { posts(first: 100) { edges { node { ` + selection + ` } } } } }`
	}
	for name, query := range map[string]string{
		"texts":           page(aliases("text", 20)),
		"bios of authors": page("author { " + aliases("bio", 20) + " }"),
		"introspection":   `{ __schema { description } ` + strings.TrimPrefix(page(aliases("text", 20)), "{"),
	} {
		final, response := a.ask(t.Context(), t, query)
		wantError(t, response, "COMPLEXITY_LIMIT_EXCEEDED")
		if string(response.Data) != "null" {
			t.Errorf("%s: got %d bytes of data", name, len(response.Data))
		}
		if n := final.Work.Bytes; n < cost.MaxResponse || n > cost.MaxResponse+64<<10 {
			t.Errorf("%s: charged %d bytes, want those that were written up to the bound", name, n)
		}
	}
	if response := a.run(t.Context(), page("text"), ""); len(response.Errors) > 0 || len(response.Data) < 100*retwis.MaxPostBytes {
		t.Errorf("a page of long posts: %v, %d bytes", response.Errors, len(response.Data))
	}
	if used := a.executor.shares.Bytes.Used(); used != 0 {
		t.Errorf("%d bytes are held after the responses", used)
	}
}

// Attack: introspection with 48 aliases cost three times its price, which counts few elements of each list.
func TestIntrospection_IsChargedByItsObjects(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{Introspection: true})
	final, response := a.ask(t.Context(), t, `{ __schema { types { `+aliases("fields { name }", 10)+` } } }`)
	if len(response.Errors) > 0 {
		t.Fatal(response.Errors)
	}
	objects := strings.Count(string(response.Data), "{")
	if want := rowsPerField * objects; objects < 1000 || final.Work.Rows < want {
		t.Errorf("%d objects were charged as %d rows, want %d", objects, final.Work.Rows, want)
	}
}

// budget charges a client against a budget.
type budget struct {
	unlimited
	left, half int
}

func (b *budget) Check(ratelimit.Client) error {
	if b.left <= 0 {
		return ratelimit.Exceeded(ratelimit.Reads, 7*time.Second)
	}
	return nil
}

func (b *budget) Affords(ratelimit.Client) bool { return b.left > 0 }

func (b *budget) CheckDebt(ratelimit.Client) error {
	if b.left < 0 {
		return ratelimit.Exceeded(ratelimit.Reads, 7*time.Second)
	}
	return nil
}

func (b *budget) CheckHalf(ratelimit.Client) error {
	if b.left < b.half {
		return ratelimit.Exceeded(ratelimit.Reads, 7*time.Second)
	}
	return nil
}

func (b *budget) Charge(_ ratelimit.Client, cost, _ int) error {
	if b.left -= cost; b.left < 0 {
		return ratelimit.Exceeded(ratelimit.Reads, 7*time.Second)
	}
	return nil
}

func (b *budget) Refund(_ ratelimit.Client, cost int) { b.left += cost }

// ask runs an operation that asks for its final cost, and returns that.
func (a *api) ask(ctx context.Context, t *testing.T, query string) (finalCost, *graphql.Response) {
	t.Helper()
	ctx = graphql.StartOperationTrace(ctx)
	op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: query, Extensions: map[string]any{"cost": true}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	responses, ctx := a.executor.DispatchOperation(ctx, op)
	response := responses(ctx)
	found, ok := response.Extensions["cost"].(finalCost)
	if !ok {
		t.Fatalf("the response has no cost: %v", response.Extensions)
	}
	return found, response
}

// Attacks: large sets cost their readers what they take, and equal work is done once.
func TestOperations_ArePricedByTheirWork(t *testing.T) {
	t.Parallel()
	a := newReal(t, redistest.Server(t).URL())
	people := a.register("anna", "bob", "carol")
	anna, bob, carol := people[0], people[1], people[2]
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprint("user", i))
	}
	for _, reader := range a.register(many...) {
		a.follow(reader, anna)
		a.follow(reader, bob)
		a.follow(carol, reader)
	}
	a.drain()
	common := func(size string) string {
		return `user(username: "anna") { commonFollowers(first: ` + size + `, with: "` + globalUserID(bob.ID) + `") { totalCount } }`
	}
	small, _ := a.ask(t.Context(), t, `{ user(username: "anna") { commonFollowers(first: 1, with: "`+globalUserID(carol.ID)+`") { totalCount } } }`)
	large, response := a.ask(t.Context(), t, `{ a: `+common("1")+` }`)
	wantData(t, response, `{"a": {"commonFollowers": {"totalCount": 300}}}`)
	if large.Work.Rows < small.Work.Rows+3*300 {
		t.Errorf("the common followers of large accounts count %+v, those of small ones %+v", large.Work, small.Work)
	}
	again, _ := a.ask(t.Context(), t, "{ "+aliases(common("1"), 20)+"}")
	if again.Work.Rows > large.Work.Rows+20+3*20 || again.Work.Scripts > large.Work.Scripts { // its plan has 3 fields for each alias
		t.Errorf("the same page 20 times counts %+v, once %+v", again.Work, large.Work)
	}
	pages := "{"
	for i := range 10 {
		pages += fmt.Sprintf(" a%d: %s", i, common(fmt.Sprint(i+1)))
	}
	if different, _ := a.ask(t.Context(), t, pages+"}"); different.Beyond < 9*3*300/10 || different.Total != different.Document+different.Price+different.Beyond-different.Refunded {
		t.Errorf("ten pages cost %+v", different)
	}
	known, _ := a.ask(as(t, carol), t, `{ user(username: "anna") { followersYouKnow(first: 1) { totalCount } } }`)
	if known.Work.Rows < 600 {
		t.Errorf("the known followers of a reader of 300 count %+v", known.Work)
	}

	// A query stops when the budget is used up, and so does nothing more.
	resolver := a.resolver()
	resolver.Users, resolver.Follows = a.store.Accounts, a.store.Follows
	limited := &budget{left: 300}
	resolver.Limits = limited
	a.serve(resolver, Options{})
	stopped, response := a.ask(t.Context(), t, pages+"}")
	if err := wantError(t, response, "RATE_LIMITED"); err.Extensions["retryAfter"] != 7 || response.Data != nil {
		t.Errorf("got %v with the data %s", err.Extensions, response.Data)
	}
	if stopped.Work.Rows > 300*10+2*3*300 || limited.left < -2*100 {
		t.Errorf("an operation without budget did %+v, and left a debt of %d", stopped.Work, -limited.left)
	}
}

// Attack: many fields whose resolvers find nothing to read. Those that are resolved side by side cost what their goroutines take.
func TestOperations_PayForResolvers(t *testing.T) {
	t.Parallel()
	for _, unplanned := range []bool{false, true} {
		a := newAPI(Options{Unplanned: unplanned})
		author := a.addUser("alice")
		for range 50 {
			a.addPost(author, "hello")
		}
		final, response := a.ask(t.Context(), t, `{ publicTimeline { posts(first: 50) { edges { node {`+
			aliases("ancestors { postId }", 4)+`} } } } }`)
		if n := final.Work.Resolvers; len(response.Errors) > 0 || n < 200 || n > 210 || final.Total < 200/cost.ResolversPerPoint {
			t.Errorf("unplanned %t: 200 resolvers cost %+v: %v", unplanned, final, response.Errors)
		}
	}
}

// Attack: a known document whose values take long to validate or to evaluate, for each request again.
func TestOperations_PayForTheirValues(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	require := func(query string, extra int) {
		t.Helper()
		final, response := a.ask(t.Context(), t, query)
		if want := cost.PerOperation + extra; len(response.Errors) > 0 || final.Total-final.Document != want {
			t.Errorf("%.80s costs %+v, want %d: %v", query, final, want, response.Errors)
		}
	}
	for values, extra := range map[int]int{1: 0, 200: 10, 1800: 90} {
		list := "[" + strings.Repeat(`"x",`, values) + "]"
		require(`query ($ids: [ID!]! = `+list+`) { __typename nodes(ids: $ids) @skip(if: true) { id } }`, extra)
		require(`{ __typename nodes(ids: `+list+`) @skip(if: true) { id } }`, extra)
	}
	long := `"` + strings.Repeat("X", 10<<10) + `"`
	require(`query ($name: String! = `+long+`) { __typename user(username: $name) @skip(if: true) { id } }`, cost.Received(10<<10))
	require(`{ __typename user(username: `+long+`) @skip(if: true) { id } }`, cost.Received(10<<10))
	require(`{ user(username: "`+strings.Repeat("X", 1<<10)+`") { id } }`, 0) // no user has it, so it is not folded
}

// Each aliased read of the API is made once with equal arguments.
func TestOperations_MakeEqualReadsOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	reader := a.addUser("reader")
	author := a.addUser("author")
	a.addFollow(reader, author)
	post := globalPostID(a.tagPost(author, "text #go").ID)
	a.addLike(reader, a.posts[0])
	a.addSession(reader, "")
	with := globalUserID(author.ID)
	root := `user(username: "author") { id } newestUsers { totalCount } searchUsers(prefix: "a") { totalCount } findUsers(query: "a") { id }
		tag(name: "go") { timeline { posts { liveCursor } } }
		rateLimit { limit } publicTimeline { posts { liveCursor } } thread(postId: "` + post + `") { replies { pageInfo { hasNextPage } } } viewer { homeTimeline { posts { liveCursor } } mentionsTimeline { posts { liveCursor } }
			lists { pageInfo { hasNextPage } } likedPosts { edges { node { likers { totalCount } } } } sessions { id } user {
			timeline { posts { liveCursor } } followers { totalCount } following { totalCount }
			commonFollowers(with: "` + with + `") { totalCount } followersYouKnow { totalCount } viewerFollows followsViewer } }`
	schema := a.executor.schema
	doc := `{ nodes(ids: ["` + strings.Join(slices.Repeat([]string{globalViewerID(reader.ID)}, 50), `", "`) + `"]) { ... on Viewer { ` +
		`homeTimeline { posts { liveCursor } } sessions { id } } } ` + root + ` again: viewer { ` +
		`h: homeTimeline { p: posts(first: 20) { liveCursor } } l: lists(first: 20) { pageInfo { hasNextPage } }
			k: likedPosts(first: 20) { edges { n: node { l: likers(first: 20) { totalCount } } } } s: sessions { id } u: user {
			t: timeline { p: posts(first: 20) { liveCursor } } a: followers(first: 20) { totalCount } b: following(first: 20) { totalCount }
			c: commonFollowers(with: "` + with + `", first: 20) { totalCount } d: followersYouKnow(first: 20) { totalCount } } }
		q: thread(postId: "` + post + `") { p: replies(first: 20) { pageInfo { hasNextPage } } }
		x: user(username: "AUTHOR") { id } y: newestUsers(first: 20) { totalCount } z: searchUsers(prefix: "a", first: 20) { totalCount }
		j: tag(name: "#GO") { name timeline { p: posts(first: 20) { liveCursor } } }
		v: findUsers(query: "a") { username } r: rateLimit { limit } w: publicTimeline { posts(first: 20) { liveCursor } } }`
	for _, of := range []*ast.Definition{schema.Query, schema.Types["User"], schema.Types["Viewer"]} {
		for _, field := range of.Fields {
			read := field.Arguments.ForName("first") != nil || of == schema.Query && !strings.HasPrefix(field.Name, "__")
			if read && !strings.Contains(doc, field.Name) {
				t.Errorf("the test does not read %s.%s", of.Name, field.Name)
			}
		}
	}
	response := a.run(as(t, reader), doc, "")
	if len(response.Errors) > 0 {
		t.Fatal(response.Errors)
	}
	for ids, n := range a.reads {
		if n > 1 {
			t.Errorf("the users %s are read %d times", ids, n)
		}
	}
	seen := map[string]int{}
	for _, call := range a.called("") {
		most := 1
		if strings.HasPrefix(call, "Users") {
			continue // different users, as they become known
		}
		if strings.HasPrefix(call, "FollowPage") {
			most = 2 // of followers, and of those followed
		}
		if seen[call]++; seen[call] > most {
			t.Errorf("the call %s is made %d times", call, seen[call])
		}
	}
	if seen["FindUsersa 20"] != 1 || len(seen) < 12 {
		t.Errorf("only %d calls were made: %v", len(seen), seen)
	}
}

// Attack: a post may mention many more users than its price assumes. The response is charged by what it holds.
func TestMentions_AreChargedByWhatIsReturned(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	author := a.addUser("alice")
	var named []retwis.UserID
	for i := range 56 { // as many as a text of the greatest length holds
		named = append(named, a.addUser(fmt.Sprint("user", i)).ID)
	}
	for range 100 {
		a.mention(author, "text", named...)
	}
	resolver := a.resolver()
	limited := &budget{left: 1 << 20}
	resolver.Limits = limited
	a.serve(resolver, Options{})
	query := func(fields string) string {
		return `{ publicTimeline { posts(first: 100) { edges { node { mentions { ` + fields + ` } } } } } }`
	}
	final, response := a.ask(t.Context(), t, query("id username displayName createdAt"))
	if n := strings.Count(string(response.Data), `"id"`); n != 100*len(named) {
		t.Fatalf("%d users were returned: %v", n, response.Errors)
	}
	work := len(response.Data) / cost.BytesPerPoint
	if work < final.Price {
		t.Fatalf("a response of %d bytes does not exceed the price of %d", len(response.Data), final.Price)
	}
	if charged := 1<<20 - limited.left; charged < work-final.Price || final.Total < work {
		t.Errorf("it costs %d, of which %d after it began; its work takes %d", final.Total, charged, work)
	}
	limited.left = 100
	if _, response := a.ask(t.Context(), t, query("id username displayName createdAt __typename")); response.Data != nil {
		t.Errorf("without budget, %d bytes are returned", len(response.Data))
	}
}

// Attack: the posts above a reply name more than a thousand users, who are announced for each alias.
func TestAncestors_AreChargedForTheUsersWhomTheyName(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	var named []retwis.UserID
	for i := range 55 {
		named = append(named, a.addUser(fmt.Sprint("user", i)).ID)
	}
	var above []retwis.PostID
	for range limits.MaxAncestors {
		above = append(above, a.mention(alice, "text", named...).ID)
	}
	a.addPost(alice, "a reply").Thread = above
	rows := func(fields string) int {
		final, response := a.ask(t.Context(), t, `{ publicTimeline { posts(first: 1) { edges { node { id `+fields+` } } } } }`)
		if len(response.Errors) > 0 {
			t.Fatal(response.Errors)
		}
		return final.Work.Rows
	}
	if more, want := rows(`a: ancestors { postId } b: ancestors { postId }`)-rows(""), 2*len(above)*len(named)/announcedPerRow; more < want {
		t.Errorf("two reads of the posts above a reply are charged %d rows, want %d", more, want)
	}
}

// Attack: 49 times the mentions of a post whose 56 accounts were deleted took 90 microseconds a point, because their lists are empty.
func TestMentions_AreChargedForDeletedAccounts(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	var gone []retwis.UserID
	for i := range 56 {
		gone = append(gone, retwis.UserID(1_000_000+i))
	}
	a.mention(a.addUser("alice"), "text", gone...)
	rows := func(fields string) int {
		final, response := a.ask(t.Context(), t, `{ publicTimeline { posts(first: 1) { edges { node { id `+fields+` } } } } }`)
		if len(response.Errors) > 0 {
			t.Fatal(response.Errors)
		}
		return final.Work.Rows
	}
	if more := rows(`a: mentions { id } b: mentions { id } c: mentions { id }`) - rows(`a: mentions { id }`); more < 2*len(gone)/mentionsPerRow {
		t.Errorf("two more lists of mentions are charged %d rows, want at least %d", more, 2*len(gone)/mentionsPerRow)
	}
}

// Attack: 49 characters of a hashtag became 882 when it was folded, and 50 such posts took 66 milliseconds for a third of the price.
func TestHashtags_AreChargedForFolding(t *testing.T) {
	t.Parallel()
	const expanding = "\ufdfa"
	rows := func(text string) int {
		a := newAPI(Options{})
		a.addPost(a.addUser("alice"), text)
		final, response := a.ask(t.Context(), t, `{ publicTimeline { posts(first: 1) { edges { node { entities { start } } } } } }`)
		if len(response.Errors) > 0 {
			t.Fatal(response.Errors)
		}
		return final.Work.Rows
	}
	text := strings.Repeat(expanding, 40)
	if got, want := rows("#"+text)-rows("x"+text), len(text)*rowsPerFoldedByte; got != want {
		t.Errorf("a hashtag of %d bytes is charged %d rows more than other text, want %d", len(text), got, want)
	}
}

// Attack: the name of a hashtag was folded again for each field that selected it, and each place in a text.
func TestTagsOfTexts_AreChargedForFolding(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	author := a.addUser("alice")
	name := strings.Repeat("\U0001d5ba", 20) // a mathematical letter a
	a.tagPost(author, "#"+name)
	a.tagPost(author, "#"+strings.Repeat("a", 20))
	rows := func(fields string) int {
		final, response := a.ask(t.Context(), t, `{ publicTimeline { posts(first: 1) { edges { node { entities { ... on TextHashtag { `+fields+` } } } } } } }`)
		if len(response.Errors) > 0 || !strings.Contains(string(response.Data), name) {
			t.Fatalf("%s: %v", response.Data, response.Errors)
		}
		return final.Work.Rows
	}
	if got, want := rows(`a: tag { name } b: tag { name } c: tag { name }`)-rows(`a: tag { name }`), 2*len(name)*(rowsPerFoldedByte*bytesPerFoldedRow+1)/bytesPerFoldedRow; got < want || got > want+want/10 {
		t.Errorf("two more hashtags of %d bytes are charged %d rows, want %d or a few more", len(name), got, want)
	}
}

// Attack: the names in a bio of 6 KB were searched for each field that selected its entities, free of charge.
func TestBioEntities_AreReadOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	alice.Bio = strings.Repeat("a\u0301", 3000)
	rows := func(fields int) int {
		query := `{ user(username: "alice") {`
		for i := range fields {
			query += fmt.Sprintf(` e%d: bioEntities { start }`, i)
		}
		final, response := a.ask(t.Context(), t, query+` } }`)
		if len(response.Errors) > 0 {
			t.Fatal(response.Errors)
		}
		return final.Work.Rows
	}
	one, many := rows(1), rows(48)
	if once := 2 * len(alice.Bio) / bytesPerRow; one < once || many > one+48*10 { // a plan has some fields for each alias
		t.Errorf("the entities of a bio of %d bytes are charged %d rows, and 48 times %d", len(alice.Bio), one, many)
	}
}

// Attack: one event for several clients searched a hundred thousand texts, although their budget was used up.
func TestRenderFor_BoundsTheWorkOfASharedEvent(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	author := a.addUser("alice")
	post := a.addPost(author, strings.Repeat("a ", 10_000))
	resolver := a.resolver()
	limited := &budget{left: 1 << 20}
	resolver.Limits = limited
	a.serve(resolver, Options{})
	query := `subscription($id: ID) { timelineEvents(timelineId: $id) { ... on PostAdded { edge { node {`
	for i := range 48 {
		query += fmt.Sprintf(` e%d: entities { start @skip(if: true) }`, i)
	}
	op, errs := a.executor.CreateOperationContext(graphql.StartOperationTrace(t.Context()), &graphql.RawParams{
		Query: query + ` } } } } }`, Variables: map[string]any{"id": globalTimelineID(retwis.Public())},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	event := &retwis.PostAdded{Edge: retwis.PostEdge{Cursor: "c", Post: post}}
	for _, left := range []int{1 << 20, 1} {
		limited.left = left
		response, err := a.executor.RenderFor(t.Context(), op, event, ratelimit.Client{User: 9}, cost.ForSeveral())
		if err != nil || len(response.Errors) != 1 || fmt.Sprint(response.Errors[0].Extensions["code"]) != string(retwis.CodeTooComplex) {
			t.Fatalf("%v, %v", response, err)
		}
		if charged := left - limited.left; charged < 30_000 || charged > 40_000 {
			t.Errorf("charged %d points", charged)
		}
	}
}

// Attack: each event that is executed for one subscriber is charged, and the subscription ends without budget.
func TestRenderFor_ChargesEachEvent(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	author := a.addUser("alice")
	post := a.addPost(author, "text")
	resolver := a.resolver()
	limited := &budget{left: 1 << 20}
	resolver.Limits = limited
	a.serve(resolver, Options{})
	ctx := auth.WithRequest(graphql.StartOperationTrace(t.Context()), auth.Request{Address: netip.MustParseAddr("192.0.2.1")})
	op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{
		Query:     `subscription($id: ID) { timelineEvents(timelineId: $id) { ... on PostAdded { edge { node { text author { followers(first: 100) { totalCount } } } } } } }`,
		Variables: map[string]any{"id": globalTimelineID(retwis.Public())},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	event, client := &retwis.PostAdded{Edge: retwis.PostEdge{Cursor: "c", Post: post}}, ratelimit.Client{User: 9}
	for i := range 3 {
		before := limited.left
		response, err := a.executor.RenderFor(ctx, op, event, client, []ratelimit.Client{cost.ForSeveral(), client, client}[i])
		if err != nil || len(response.Errors) > 0 {
			t.Fatal(response, err)
		}
		if charged := before - limited.left; charged < cost.PerOperation {
			t.Errorf("event %d costs %d", i, charged)
		}
	}
	limited.left = 1
	response, err := a.executor.RenderFor(ctx, op, event, client, cost.ForSeveral())
	if err != nil || len(response.Errors) > 0 || 1-limited.left < cost.PerOperation {
		t.Errorf("the last event, which is also for others: %v, %v, charged %d", response, err, 1-limited.left)
	}
	limited.left = 0
	for _, holder := range []ratelimit.Client{client, cost.ForSeveral()} {
		if response, err := a.executor.RenderFor(ctx, op, event, client, holder); !errors.Is(err, &retwis.Error{Code: retwis.CodeRateLimited}) || limited.left < 0 {
			t.Errorf("an event of a client without budget: %v, %v", response, err)
		}
	}
}

// Attack: ids that name nothing, or the same object, took nine times what they cost.
func TestNodes_AreChargedForEachID(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	total := func(ids int) int {
		final, response := a.ask(t.Context(), t, `{ nodes(ids: [`+strings.Repeat(`"x",`, ids)+`]) { id } }`)
		if len(response.Errors) > 0 {
			t.Fatal(response.Errors)
		}
		return final.Total - final.Document
	}
	if few, many := total(1), total(100); many-few < 100*rowsPerID/cost.RowsPerPoint-1 {
		t.Errorf("100 ids cost %d, and one %d", many, few)
	}
}
