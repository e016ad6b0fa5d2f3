package store

import (
	"context"
	"embed"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"retwis/internal/roundtrip"
)

//go:embed script
var scriptFiles embed.FS

// scripts are the programs that run inside Redis; each is described at the head of its
// file under script/.
type scripts struct {
	openDatabase, charge       *redis.Script
	findDocument, keepDocument *redis.Script

	createUser, claimName, releaseName, activateUser, dropPending *redis.Script
	updateProfile, changePassword, rehashPassword                 *redis.Script
	createSession, findSession, listSessions                      *redis.Script
	endSession, endSessions                                       *redis.Script

	createPost, deletePost                 *redis.Script
	follow, unfollow                       *redis.Script
	enterReach, setReach, countFollowers   *redis.Script
	intersect                              *redis.Script
	page, profiles, since                  *redis.Script
	beginBuild, merge, purge               *redis.Script
	enter, leave                           *redis.Script
	push, pushOne, pull, remove, advance   *redis.Script
	renewLease, releaseLease, bury, revive *redis.Script

	evict, sweepTurn, endSweep                *redis.Script
	beginLeave, leaveStep, beginPart, carryOn *redis.Script
	partFollowing, partFollowers, forget      *redis.Script

	createList, renameList, deleteList, unlist *redis.Script
	addMember, removeMember                    *redis.Script

	followAll, importPosts, importPublic *redis.Script

	inspectUser, inspectTimeline, halfEdges      *redis.Script
	mendEdge, mendCounts, placePost, weed, renew *redis.Script
	mendNewest                                   *redis.Script

	backlog *redis.Script

	byName map[string]*redis.Script // all of them
}

func loadScripts() scripts {
	byName := map[string]*redis.Script{}
	script := func(name string) *redis.Script {
		byName[name] = readScript(name)
		return byName[name]
	}
	return scripts{
		openDatabase:   script("open_database"),
		charge:         script("charge"),
		findDocument:   script("find_document"),
		keepDocument:   script("keep_document"),
		createUser:     script("create_user"),
		claimName:      script("claim_name"),
		releaseName:    script("release_name"),
		activateUser:   script("activate_user"),
		dropPending:    script("drop_pending"),
		updateProfile:  script("update_profile"),
		changePassword: script("change_password"),
		rehashPassword: script("rehash_password"),
		createSession:  script("create_session"),
		findSession:    script("find_session"),
		listSessions:   script("list_sessions"),
		endSession:     script("end_session"),
		endSessions:    script("end_sessions"),
		createPost:     script("create_post"),
		deletePost:     script("delete_post"),
		follow:         script("follow"),
		unfollow:       script("unfollow"),
		enterReach:     script("enter_reach"),
		setReach:       script("set_reach"),
		countFollowers: script("count_followers"),
		intersect:      script("common_followers"),
		page:           script("page"),
		profiles:       script("profiles"),
		since:          script("since"),
		beginBuild:     script("begin_build"),
		merge:          script("merge"),
		purge:          script("purge"),
		enter:          script("enter"),
		leave:          script("leave"),
		push:           script("push"),
		pushOne:        script("push_one"),
		pull:           script("pull"),
		remove:         script("remove"),
		advance:        script("advance"),
		renewLease:     script("renew_lease"),
		releaseLease:   script("release_lease"),
		bury:           script("bury"),
		revive:         script("revive"),
		evict:          script("evict"),
		sweepTurn:      script("sweep_turn"),
		endSweep:       script("end_sweep"),
		beginLeave:     script("begin_leave"),
		leaveStep:      script("leave_step"),
		beginPart:      script("begin_part"),
		carryOn:        script("carry_on"),
		partFollowing:  script("part_following"),
		partFollowers:  script("part_followers"),
		forget:         script("forget"),
		createList:     script("create_list"),
		renameList:     script("rename_list"),
		deleteList:     script("delete_list"),
		unlist:         script("unlist"),
		addMember:      script("add_member"),
		removeMember:   script("remove_member"),

		followAll:    script("follow_all"),
		importPosts:  script("import_posts"),
		importPublic: script("import_public"),

		inspectUser:     script("inspect_user"),
		inspectTimeline: script("inspect_timeline"),
		halfEdges:       script("half_edges"),
		mendEdge:        script("mend_edge"),
		mendCounts:      script("mend_counts"),
		mendNewest:      script("mend_newest"),
		placePost:       script("place_post"),
		weed:            script("weed"),
		renew:           script("renew"),
		backlog:         script("backlog"),
		byName:          byName,
	}
}

// readScript reads a program and puts the pieces it includes, each once, in front of it.
// The files are part of the binary, so that one is missing is a mistake in this package.
func readScript(name string) *redis.Script {
	include := regexp.MustCompile(`(?m)^--@include (\w+)\n`)
	read := func(path string) string {
		text, err := scriptFiles.ReadFile("script/" + path + ".lua")
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	body := read(name)
	var head strings.Builder
	for _, piece := range include.FindAllStringSubmatch(body, -1) {
		head.WriteString(read("lib/" + piece[1]))
	}
	return redis.NewScript(head.String() + include.ReplaceAllString(body, ""))
}

// call is one script with its keys, all of one slot, and its arguments.
type call struct {
	script *redis.Script
	keys   []string
	args   []any
}

// do runs one script.
func (s *Store) do(ctx context.Context, c call) *redis.Cmd {
	return c.script.Run(ctx, s.client, c.keys, c.args...)
}

// doAll runs scripts, in one pipeline a master, side by side: in a pipeline over several, a
// master that does not answer until the deadline makes the driver fail all commands, those
// too that others have answered. Each result has its own error.
func (s *Store) doAll(ctx context.Context, calls []call) []*redis.Cmd {
	results := make([]*redis.Cmd, len(calls))
	if len(calls) == 0 {
		return results
	}
	groups := s.byMaster(ctx, calls)
	var others sync.WaitGroup
	for _, group := range groups[1:] {
		others.Go(func() {
			ctx, _ := roundtrip.WithCounter(ctx) // all of them are one exchange
			s.doGroup(ctx, calls, group, results)
		})
	}
	s.doGroup(ctx, calls, groups[0], results)
	others.Wait()
	return results
}

// byMaster returns the indexes of calls, by the masters that have their keys.
func (s *Store) byMaster(ctx context.Context, calls []call) [][]int {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		all := make([]int, len(calls))
		for i := range all {
			all[i] = i
		}
		return [][]int{all}
	}
	groups := map[*redis.Client][]int{}
	for i, c := range calls {
		master, _ := cluster.MasterForKey(ctx, c.keys[0]) // where none is known, the call's error says why
		groups[master] = append(groups[master], i)
	}
	return slices.Collect(maps.Values(groups))
}

// doGroup runs some of the scripts in one pipeline. A server that does not know one, as a new
// master does not, is sent its text.
func (s *Store) doGroup(ctx context.Context, calls []call, group []int, results []*redis.Cmd) {
	pipe := s.client.Pipeline()
	for _, i := range group {
		results[i] = calls[i].script.EvalSha(ctx, pipe, calls[i].keys, calls[i].args...)
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	for _, i := range group {
		if redis.HasErrorPrefix(results[i].Err(), "NOSCRIPT") {
			results[i] = calls[i].script.Eval(ctx, pipe, calls[i].keys, calls[i].args...)
		}
	}
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx)
	}
}

// transient are the words of Redis errors that pass by themselves: what was asked for is
// sound, the server or the cluster is not, for now.
var transient = regexp.MustCompile(`\b(CLUSTERDOWN|LOADING|READONLY|MOVED|ASK|TRYAGAIN|NOSCRIPT|OOM|MASTERDOWN|BUSY|NOREPLICAS|MISCONF|NOAUTH|WRONGPASS|NOPERM|max number of clients|non local key|slot)\b`)

// answered reports whether err is what a script itself answered, as opposed to a failure
// of the connection, the server or the cluster that passes by itself.
func answered(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && !errors.Is(err, redis.Nil) && !transient.MatchString(reply.Error())
}
