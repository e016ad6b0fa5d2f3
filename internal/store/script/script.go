// Package script holds the programs that run inside Redis. Each file names its KEYS, its ARGV and its
// reply at the top, runs atomically on one node, and may be repeated.
package script

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Name is the path of a script in this directory, without its extension.
type Name string

// Scripts of database/.
const (
	OpenDatabase Name = "database/open_database"
)

// Scripts of account/.
const (
	ActivateUser   Name = "account/activate_user"
	BeginLeave     Name = "account/begin_leave"
	BeginPart      Name = "account/begin_part"
	CarryOn        Name = "account/carry_on"
	ChangePassword Name = "account/change_password"
	ClaimName      Name = "account/claim_name"
	CreateSession  Name = "account/create_session"
	CreateUser     Name = "account/create_user"
	DropPending    Name = "account/drop_pending"
	EndSession     Name = "account/end_session"
	EndSessions    Name = "account/end_sessions"
	FindSession    Name = "account/find_session"
	Forget         Name = "account/forget"
	LeaveStep      Name = "account/leave_step"
	ListSessions   Name = "account/list_sessions"
	PartFollowers  Name = "account/part_followers"
	PartFollowing  Name = "account/part_following"
	RehashPassword Name = "account/rehash_password"
	ReleaseName    Name = "account/release_name"
	UpdateProfile  Name = "account/update_profile"
)

// Scripts of follow/.
const (
	CommonFollowers Name = "follow/common_followers"
	CountFollowers  Name = "follow/count_followers"
	EnterReach      Name = "follow/enter_reach"
	Follow          Name = "follow/follow"
	FollowAll       Name = "follow/follow_all"
	SetReach        Name = "follow/set_reach"
	Unfollow        Name = "follow/unfollow"
)

// Scripts of list/.
const (
	AddMember    Name = "list/add_member"
	CreateList   Name = "list/create_list"
	DeleteList   Name = "list/delete_list"
	RemoveMember Name = "list/remove_member"
	RenameList   Name = "list/rename_list"
	Unlist       Name = "list/unlist"
)

// Scripts of post/.
const (
	CreatePost  Name = "post/create_post"
	DeletePost  Name = "post/delete_post"
	ImportPosts Name = "post/import_posts"
)

// Scripts of timeline/.
const (
	BeginBuild   Name = "timeline/begin_build"
	Evict        Name = "timeline/evict"
	ImportPublic Name = "timeline/import_public"
	Merge        Name = "timeline/merge"
	Page         Name = "timeline/page"
	Profiles     Name = "timeline/profiles"
	Purge        Name = "timeline/purge"
	Renew        Name = "timeline/renew"
)

// Scripts of outbox/.
const (
	Advance      Name = "outbox/advance"
	Backlog      Name = "outbox/backlog"
	Bury         Name = "outbox/bury"
	EndSweep     Name = "outbox/end_sweep"
	Pull         Name = "outbox/pull"
	Push         Name = "outbox/push"
	PushOne      Name = "outbox/push_one"
	ReleaseLease Name = "outbox/release_lease"
	Remove       Name = "outbox/remove"
	RenewLease   Name = "outbox/renew_lease"
	Revive       Name = "outbox/revive"
	SweepTurn    Name = "outbox/sweep_turn"
)

// Scripts of live/.
const (
	Enter Name = "live/enter"
	Leave Name = "live/leave"
	Since Name = "live/since"
)

// Scripts of document/.
const (
	FindDocument Name = "document/find_document"
	KeepDocument Name = "document/keep_document"
)

// Scripts of limit/.
const (
	Charge Name = "limit/charge"
)

// Scripts of inspect/.
const (
	HalfEdges       Name = "inspect/half_edges"
	InspectTimeline Name = "inspect/inspect_timeline"
	InspectUser     Name = "inspect/inspect_user"
	MendCounts      Name = "inspect/mend_counts"
	MendEdge        Name = "inspect/mend_edge"
	MendNewest      Name = "inspect/mend_newest"
	PlacePost       Name = "inspect/place_post"
	Weed            Name = "inspect/weed"
)

// Base returns the name without its directory. It is unique too, and labels metrics and spans.
func (n Name) Base() string { return path.Base(string(n)) }

//go:embed *
var files embed.FS

const (
	extension = ".lua"
	lib       = "lib"
)

// Load returns every script by its name. A script begins with the files of lib/ that it includes.
func Load() (map[Name]*redis.Script, error) {
	scripts := map[Name]*redis.Script{}
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != extension || path.Dir(file) == lib {
			return err
		}
		text, err := read(file)
		if err != nil {
			return err
		}
		scripts[Name(strings.TrimSuffix(file, extension))] = redis.NewScript(text)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load the scripts: %w", err)
	}
	return scripts, nil
}

// read returns the text of a script, with the files it includes in place of the lines that say so.
func read(file string) (string, error) {
	body, err := files.ReadFile(file)
	if err != nil {
		return "", err
	}
	include := regexp.MustCompile(`(?m)^--@include (\w+)\n`)
	var text strings.Builder
	for _, found := range include.FindAllSubmatch(body, -1) {
		included, err := files.ReadFile(path.Join(lib, string(found[1])+extension))
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		text.Write(included)
	}
	text.Write(include.ReplaceAll(body, nil))
	return text.String(), nil
}
