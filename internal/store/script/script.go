// Package script contains the Lua scripts of the store. The head of a file describes its KEYS, ARGV and reply.
// A script runs atomically on one node, and a repeat is safe.
package script

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Name is the path of a script in this directory without its extension.
type Name string

// Scripts of database/.
const (
	JoinProcesses Name = "database/join_processes"
	OpenDatabase  Name = "database/open_database"
)

// Scripts of account/.
const (
	ActivateUser          Name = "account/activate_user"
	BeginAccountDeletion  Name = "account/begin_account_deletion"
	BeginDetach           Name = "account/begin_detach"
	ContinueDetach        Name = "account/continue_detach"
	ChangePassword        Name = "account/change_password"
	ClaimName             Name = "account/claim_name"
	CreateSession         Name = "account/create_session"
	CreateUser            Name = "account/create_user"
	DeletePendingUser     Name = "account/delete_pending_user"
	EndSession            Name = "account/end_session"
	EndSessions           Name = "account/end_sessions"
	FindUsers             Name = "account/find_users"
	FindSession           Name = "account/find_session"
	FinishAccountDeletion Name = "account/finish_account_deletion"
	DeleteAccountStep     Name = "account/delete_account_step"
	ListSessions          Name = "account/list_sessions"
	DetachFollowers       Name = "account/detach_followers"
	DetachFollowing       Name = "account/detach_following"
	RehashPassword        Name = "account/rehash_password"
	ReleaseName           Name = "account/release_name"
	UpdateProfile         Name = "account/update_profile"
)

// Scripts of follow/.
const (
	CommonFollowers     Name = "follow/common_followers"
	CountFollowers      Name = "follow/count_followers"
	AddAuthorPartitions Name = "follow/add_author_partitions"
	Follow              Name = "follow/follow"
	FollowAll           Name = "follow/follow_all"
	SetFollowerCounts   Name = "follow/set_follower_counts"
	Unfollow            Name = "follow/unfollow"
)

// Scripts of lookup/.
const (
	LookUpScores Name = "lookup/look_up_scores"
	LookUpValues Name = "lookup/look_up_values"
)

// Scripts of like/.
const (
	AddLikePartition Name = "like/add_like_partition"
	DetachLikes      Name = "like/detach_likes"
	DueLikes         Name = "like/due_likes"
	Like             Name = "like/like"
	ReadLikes        Name = "like/read_likes"
	RemoveLikes      Name = "like/remove_likes"
	SetLikeCount     Name = "like/set_like_count"
	SettleLikes      Name = "like/settle_likes"
	Unlike           Name = "like/unlike"
)

// Scripts of list/.
const (
	AddMember      Name = "list/add_member"
	CreateList     Name = "list/create_list"
	DeleteList     Name = "list/delete_list"
	RemoveMember   Name = "list/remove_member"
	RenameList     Name = "list/rename_list"
	DeleteListStep Name = "list/delete_list_step"
)

// Scripts of post/.
const (
	CreatePost  Name = "post/create_post"
	DeletePost  Name = "post/delete_post"
	Repost      Name = "post/repost"
	UndoRepost  Name = "post/undo_repost"
	ReadReplies Name = "post/read_replies"
	ImportPosts Name = "post/import_posts"
)

// Scripts of timeline/.
const (
	BeginBuild   Name = "timeline/begin_build"
	ChangesSince Name = "timeline/changes_since"
	EvictIdle    Name = "timeline/evict_idle"
	InsertPosts  Name = "timeline/insert_posts"
	Merge        Name = "timeline/merge"
	MarkRead     Name = "timeline/mark_read"
	ReadList     Name = "timeline/read_list"
	ReadProfiles Name = "timeline/read_profiles"
	Purge        Name = "timeline/purge"
	RestartBuild Name = "timeline/restart_build"
)

// Scripts of tag/.
const (
	ClaimTag Name = "tag/claim_tag"
	DropTag  Name = "tag/drop_tag"
)

// Scripts of outbox/.
const (
	AdvanceWatermark Name = "outbox/advance_watermark"
	Backlog          Name = "outbox/backlog"
	AddDeadLetter    Name = "outbox/add_dead_letter"
	ReleaseSweep     Name = "outbox/release_sweep"
	DeliverPulled    Name = "outbox/deliver_pulled"
	Push             Name = "outbox/push"
	PushToTimeline   Name = "outbox/push_to_timeline"
	UpdateReferences Name = "outbox/update_references"
	ReleaseLease     Name = "outbox/release_lease"
	AnnounceRemoval  Name = "outbox/announce_removal"
	AcquireLease     Name = "outbox/acquire_lease"
	LeaseHolder      Name = "outbox/lease_holder"
	MarkLikes        Name = "outbox/mark_likes"
	Requeue          Name = "outbox/requeue"
	AcquireSweep     Name = "outbox/acquire_sweep"
)

// Scripts of live/.
const (
	SetOnline        Name = "live/set_online"
	SetOffline       Name = "live/set_offline"
	EventsSince      Name = "live/events_since"
	CompareTimelines Name = "live/compare_timelines"
)

// Scripts of document/.
const (
	FindDocument  Name = "document/find_document"
	StoreDocument Name = "document/store_document"
)

// Scripts of limit/.
const (
	Spend Name = "limit/spend"
)

// Scripts of inspect/.
const (
	HalfEdges            Name = "inspect/half_edges"
	InspectTimeline      Name = "inspect/inspect_timeline"
	InspectUser          Name = "inspect/inspect_user"
	RepairCounts         Name = "inspect/repair_counts"
	RepairHiddenReposter Name = "inspect/repair_hidden_reposter"
	RepairLike           Name = "inspect/repair_like"
	RepairLikeCount      Name = "inspect/repair_like_count"
	RepairEdge           Name = "inspect/repair_edge"
	RepairMarker         Name = "inspect/repair_marker"
	RepairTag            Name = "inspect/repair_tag"
	RepairNewestUser     Name = "inspect/repair_newest_user"
	RepairSearchEntry    Name = "inspect/repair_search_entry"
	RepairSearchWords    Name = "inspect/repair_search_words"
	RepairReference      Name = "inspect/repair_reference"
	RepairRepostOfUser   Name = "inspect/repair_repost_of_user"
	RepairProfileEntry   Name = "inspect/repair_profile_entry"
	RemoveEntries        Name = "inspect/remove_entries"
	StaleSearchWords     Name = "inspect/stale_search_words"
)

// CountsRows reports whether the last element of the reply is the number of rows that the script has visited without returning
// them: then the script has a statement as lib/rows.lua describes.
func (n Name) CountsRows() bool {
	body, err := files.ReadFile(string(n) + extension)
	return err == nil && bytes.Contains(body, []byte("\nreturn counted("))
}

// Base returns the name without its directory. It is unique too. Metrics and spans use it.
func (n Name) Base() string { return path.Base(string(n)) }

//go:embed *
var files embed.FS

const (
	extension = ".lua"
	lib       = "lib"
)

// Load returns all scripts by name. The text of a script contains the files of lib/ that it includes. A call passes one more key than
// the head of the script describes, after the others: a key of the same slot that never exists.
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

// include is what a line of a script contains that stands for a file of lib/, after spaces and before the name of the file.
const include = "--@include "

// read returns the text of a script, with each included file in the place of its line. Redis creates the functions of
// an included file whenever the script passes that line, so a rare path includes what only it needs.
func read(file string) (string, error) {
	body, err := files.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := bytes.NewBufferString(removeAbsentKey)
	for line := range bytes.Lines(body) {
		name, isInclude := bytes.CutPrefix(bytes.TrimLeft(line, " "), []byte(include))
		if isInclude {
			if line, err = files.ReadFile(path.Join(lib, string(bytes.TrimSpace(name))+extension)); err != nil {
				return "", fmt.Errorf("%s: %w", file, err)
			}
		}
		text.Write(line)
	}
	return text.String(), nil
}

// removeAbsentKey begins every script. It removes the key that never exists, so that scripts may count their keys.
const removeAbsentKey = "table.remove(KEYS) "
