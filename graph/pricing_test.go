package graph

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/redis/go-redis/v9"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/internal/cost"
	"retwis/internal/redistest"
)

// maxSpread bounds the work per point of the worst operation, as a multiple of the median.
const maxSpread = 5

// exchanges counts what passes on connections to Redis, independently of the meters of operations.
type exchanges struct{ commands, scripts, values, trips atomic.Int64 }

func (e *exchanges) count(cmds ...redis.Cmder) {
	e.trips.Add(1)
	for _, cmd := range cmds {
		if cmd.Name() == "evalsha" || cmd.Name() == "eval" {
			e.scripts.Add(1)
		} else {
			e.commands.Add(1)
		}
		if cmd.Name() != "hmget" && cmd.Name() != "hgetall" { // a row, which counts with its command
			e.values.Add(int64(values(reflect.ValueOf(cmd).MethodByName("Val").Call(nil)[0])))
		}
	}
}

// values returns how many values a reply holds in lists and maps.
func values(reply reflect.Value) int {
	for reply.Kind() == reflect.Interface {
		reply = reply.Elem()
	}
	if reply.Kind() == reflect.Map {
		return reply.Len()
	}
	if reply.Kind() != reflect.Slice {
		return 0
	}
	n := reply.Len()
	for i := range reply.Len() {
		n += values(reply.Index(i))
	}
	return n
}

func (e *exchanges) DialHook(next redis.DialHook) redis.DialHook { return next }

func (e *exchanges) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		e.count(cmd)
		return err
	}
}

func (e *exchanges) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		e.count(cmds...)
		return err
	}
}

// since returns what has passed since an earlier count, and the count.
func (e *exchanges) since(last [4]int64) (done cost.Work, now [4]int64) {
	now = [4]int64{e.commands.Load(), e.scripts.Load(), e.values.Load(), e.trips.Load()}
	return cost.Work{
		Commands: int(now[0] - last[0]), Scripts: int(now[1] - last[1]), Rows: int(now[2] - last[2]), RoundTrips: int(now[3] - last[3]),
	}, now
}

// calls returns how many commands the server has run, those of scripts included.
func (db *pricedDB) calls(t *testing.T, client *redis.Client) int {
	t.Helper()
	stats, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for line := range strings.Lines(stats) {
		name, rest, _ := strings.Cut(line, ":calls=")
		n, _, _ := strings.Cut(rest, ",")
		if count, err := strconv.Atoi(n); err == nil && name != "cmdstat_info" {
			total += count
		}
	}
	return total
}

// priced is an operation that was run, and what it cost.
type priced struct {
	params *graphql.RawParams
	work   cost.Work
	final  finalCost
}

// String implements [fmt.Stringer].
func (p priced) String() string { return fmt.Sprintf("%+v %+v\n%s", p.work, p.final, p.params.Query) }

// charged returns the points of the execution, without those of the document.
func (p priced) charged() int { return p.final.Total - p.final.Document }

// perPoint returns the work per point that was charged.
func (p priced) perPoint() float64 {
	return (float64(cost.PerOperation+p.work.Commands*cost.PerCommand+p.work.Scripts*cost.PerScript+p.work.RoundTrips*cost.PerRoundTrip) +
		float64(p.work.Rows)/cost.RowsPerPoint + float64(p.work.Bytes)/cost.BytesPerPoint) / float64(p.charged())
}

// operationsToPrice returns operations that do much work for their size, and random ones.
func (db *pricedDB) operationsToPrice(t *testing.T, random *rand.Rand, n int) []*graphql.RawParams {
	t.Helper()
	all := []*graphql.RawParams{
		{Query: `{ viewer { homeTimeline { posts(first: 20) { edges { node { id text createdAt author { username displayName } } } } } } }`},
		{Query: `{ viewer { homeTimeline { posts(first: 100, after: "` + db.deep + `") { edges { node { id } } } } } }`},
		{Query: `{ viewer { homeTimeline { posts(last: 1, before: "` + db.deep + `") { liveCursor } } } }`},
		{Query: `{ user(username: "user0") { followersYouKnow(first: 1) { totalCount } } }`},
		{Query: `{ user(username: "user0") { commonFollowers(first: 1, with: ` + db.literals["ID"][1] + `) { totalCount } } }`},
		{Query: `{ user(username: "user0") { commonFollowers(first: 1, with: ` + db.literals["ID"][2] + `) { totalCount } } }`},
		{Query: `{ user(username: "user0") { followers(first: 100) { edges { node { username bio viewerFollows followsViewer } } } } }`},
		{Query: `{ user(username: "user0") { followers(first: 1) { totalCount } } }`},
		{Query: `{ publicTimeline { posts(first: 100) { edges { node { id mentions { id username } entities { start } } } } } }`},
		{Query: `{ user(username: "user2") { timeline { posts(first: 100) { edges { node { entities { ... on TextHashtag { tag { id } } } } } } } } }`},
		{Query: `{ user(username: "user2") { timeline { posts(first: 100) { edges { node { entities { ... on TextHashtag { name } } } } } } } }`},
		{Query: `{ tag(name: "a0x1") { name timeline { posts(first: 1) { liveCursor } } } }`},
		{Query: `{ findUsers(query: "user 1") { id } }`},
		{Query: `{ findUsers(query: "user") { id bioEntities { start } } }`},
		{Query: `{ searchUsers(prefix: "user", first: 1) { totalCount } newestUsers(first: 1) { totalCount } }`},
		{Query: `{ viewer { homeTimeline { unreadCount } mentionsTimeline { unreadCount(atMost: 1) marker } } }`},
		{Query: `{ viewer { homeTimeline { posts(first: 1) { liveCursor } unreadCount(atMost: 100) marker } } }`},
		{Query: `{ publicTimeline { posts(first: 50) { edges { node { replyCount replies(first: 1) { pageInfo { hasNextPage } } } } } } }`},
		{Query: `{ publicTimeline { posts(first: 100) { edges { node { replyCount inReplyTo { id } ancestors(last: 1) { postId post { id } } } } } } }`},
		{Query: `{ publicTimeline { posts(first: 100) { edges { node { quoteCount quotedPost { postId } } } } } }`},
		{Query: `{ publicTimeline { posts(first: 100) { edges { node {` + aliases("quotedPost { postId }", 45) + `} } } } }`},
		{Query: `{ publicTimeline { posts(first: 100) { edges { node {` + aliases("ancestors { postId }", 3) + `} } } } }`},
		{Query: `{ publicTimeline { posts(first: 100) { edges { node { author {` + aliases("timeline { kind }", 20) + `} } } } } }`},
		{Query: `{ publicTimeline { posts(first: 100) { edges { node { likeCount viewerHasLiked } } } } }`},
		{Query: `{ publicTimeline { posts(first: 50) { edges { node { likers(first: 1) { totalCount } } } } } }`},
		{Query: `{ viewer { homeTimeline { posts(first: 20) { edges { node { id likeCount viewerHasLiked } } } } likedPosts(first: 100) { edges { likedAt } } } }`},
		{Query: `{` + aliases(`tag(name: "`+strings.Repeat("\uFDFA", 50)+`") { id }`, 29) + `}`},
		{Query: `query($c: Cursor) { publicTimeline {` + aliases("posts(first: 1, after: $c) { liveCursor }", 20) + `} }`,
			Variables: map[string]any{"c": strings.Repeat("AQEB", 60_000)}},
		{Query: `query ($ids: [ID!]! = [` + strings.Repeat(`"x",`, 1800) + `]) { __typename nodes(ids: $ids) @skip(if: true) { id } }`},
		{Query: `{ __typename nodes(ids: [` + strings.Repeat(`"x",`, 1800) + `]) @skip(if: true) { id } }`},
		{Query: `query ($name: String! = "` + strings.Repeat("X", 14<<10) + `") {` + aliases(`user(username: $name) { id }`, 29) + `}`},
		{Query: `{` + aliases(`searchUsers(prefix: "`+strings.Repeat("\U0010FFFF", 900)+`", first: 1) { totalCount }`, 2) + `}`},
		{Query: `{ __typename }`},
	}
	kinds := db.executor.schema
	for range n {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(random.UintN(256))
		}
		o := newRandomOperation(&choices{data}, kinds, ast.Query, db.literals)
		variables := map[string]any{}
		for name, value := range o.variables[0] {
			variables[name] = decode(t, value)
		}
		all = append(all, &graphql.RawParams{Query: o.text, OperationName: o.name, Variables: variables})
	}
	for _, params := range all {
		params.Extensions = map[string]any{costExtension: true}
	}
	return all
}

// aliases returns a field with its selection under several names.
func aliases(field string, n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "a%d: %s ", i, field)
	}
	return all.String()
}

// run runs an operation. It reports false if the operation is not accepted.
func (db *pricedDB) run(t *testing.T, params *graphql.RawParams) (response *graphql.Response, final finalCost, ok bool) {
	t.Helper()
	copied := *params
	copied.ReadTime.Start = time.Now()
	ctx := graphql.StartOperationTrace(as(t, db.reader))
	op, errs := db.executor.CreateOperationContext(ctx, &copied)
	if len(errs) > 0 {
		return nil, finalCost{}, false
	}
	responses, ctx := db.executor.DispatchOperation(ctx, op)
	response = responses(ctx)
	final, ok = response.Extensions[costExtension].(finalCost)
	if !ok {
		t.Errorf("the response has no cost: %+v", response)
	}
	return response, final, ok
}

// The price of an operation bounds what it costs. The work is counted on the connections to Redis and by the server itself,
// independently of the meters. At full size, the test measures the processor time too, and no other test runs meanwhile.
func TestPrices_BoundTheWorkOfRandomOperations(t *testing.T) {
	if !redistest.Soak() {
		t.Parallel()
	}
	db := newPricedDB(t)
	random := rand.New(rand.NewPCG(7, 11))
	if redistest.Soak() {
		random = redistest.Rand(t)
	}
	client := db.server.Client()
	_, last := db.exchange.since([4]int64{})
	called := db.calls(t, client)
	var all []priced
	for _, params := range db.operationsToPrice(t, random, redistest.Size(400, 4_000)) {
		response, final, ok := db.run(t, params)
		if !ok {
			continue
		}
		var done cost.Work
		done, last = db.exchange.since(last)
		now := db.calls(t, client)
		inScripts := now - called - done.Commands - done.Scripts
		called = now
		// Redis does not tell how many rows a script walks over, so the count of the meter stands for these.
		done.Rows = max(done.Rows+inScripts, final.Work.Rows)
		done.Bytes = len(response.Data)
		all = append(all, priced{params, done, final})
	}
	requireEven(t, "work", all, priced.perPoint)
	if redistest.Soak() {
		db.measureProcessor(t, all)
	}
}

// requireEven requires that something per point of no operation is more than a multiple of the median.
func requireEven[T any](t *testing.T, what string, all []T, perPoint func(T) float64) {
	t.Helper()
	if len(all) < 200 {
		t.Fatalf("only %d operations were accepted", len(all))
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(perPoint(a), perPoint(b)) })
	least, median, worst := perPoint(all[0]), perPoint(all[len(all)/2]), perPoint(all[len(all)-1])
	t.Logf("%s per point of %d operations: least %.2f, median %.2f, worst %.2f", what, len(all), least, median, worst)
	if worst > maxSpread*median {
		t.Errorf("the worst %s per point is %.1f times the median", what, worst/median)
	}
	for _, one := range slices.Backward(all[len(all)-3:]) {
		t.Logf("%.2f: %+v", perPoint(one), one)
	}
}
