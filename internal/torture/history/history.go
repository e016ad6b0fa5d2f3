// Package history records what clients did and observed during a torture run. A history is complete in itself:
// validators can check it again from a file.
package history

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Kind is the kind of an operation.
type Kind string

// The operations.
const (
	Post       Kind = "post"        // Text is created under Key
	Delete     Kind = "delete"      // Post with Text is deleted
	Follow     Kind = "follow"      // Client follows Target, and chooses Reposts
	Unfollow   Kind = "unfollow"    // Client unfollows Target
	ReadFollow Kind = "read-follow" // Client reads whether it follows Target, into Follows
	ReadHome   Kind = "read-home"   // Client reads the first page of its home, into Texts
	AddMember  Kind = "add-member"  // Client adds Target to its list
	DropMember Kind = "drop-member" // Client removes Target from its list
	Like       Kind = "like"        // Client likes the post with the text Target
	Unlike     Kind = "unlike"      // Client no longer likes the post with the text Target
	Repost     Kind = "repost"      // Client reposts the post with the text Target
	UndoRepost Kind = "undo-repost" // Client undoes the repost of the post with the text Target
	Leave      Kind = "leave"       // Client deletes its account
)

// Reposts says whether a follow shows the reposts of the followed user on the home of the follower.
type Reposts string

// The choices. The default shows the reposts, and leaves an existing follow as it is.
const (
	DefaultReposts Reposts = ""
	ShowReposts    Reposts = "show"
	HideReposts    Reposts = "hide"
)

// Outcome is the result of an operation.
type Outcome string

// The outcomes. An operation with an unknown outcome may have taken effect, or may take effect later.
const (
	OK      Outcome = "ok"
	Refused Outcome = "refused"
	Unknown Outcome = "unknown"
)

// Operation is one invocation of the API. Times are nanoseconds since the start of the run.
type Operation struct {
	Client  string   `json:"client"` // username
	Kind    Kind     `json:"kind"`
	Target  string   `json:"target,omitempty"` // username, or text of a post
	Key     string   `json:"key,omitempty"`    // idempotency key
	Text    string   `json:"text,omitempty"`   // of the post; unique in a run
	ID      string   `json:"id,omitempty"`     // of the post
	Follows bool     `json:"follows,omitempty"`
	Reposts Reposts  `json:"reposts,omitempty"`
	Texts   []string `json:"texts,omitempty"`
	Call    int64    `json:"call"`
	Return  int64    `json:"return"`
	Outcome Outcome  `json:"outcome"`
}

// EventKind is the kind of an event.
type EventKind string

// The events of a subscription.
const (
	Connected EventKind = "connected" // the client subscribed, after its last cursor if it had one
	Added     EventKind = "added"
	Removed   EventKind = "removed"
	CaughtUp  EventKind = "caught-up"
	Reset     EventKind = "reset" // the client fetched the timeline again, into Texts
)

// Event is an event that a subscriber received.
type Event struct {
	Kind  EventKind `json:"kind"`
	ID    string    `json:"id,omitempty"`
	Text  string    `json:"text,omitempty"`
	Texts []string  `json:"texts,omitempty"` // newest first
	At    int64     `json:"at"`
}

// Stream is everything that one subscriber of its home timeline received.
type Stream struct {
	Client string  `json:"client"`
	Events []Event `json:"events"`
}

// View has the timelines and counters of a user at the end, when the service is quiet. Lists are newest first. A repost is listed
// as validate.Reposting returns it.
type View struct {
	User       string   `json:"user"`
	Home       []string `json:"home"`       // read forwards
	Backwards  []string `json:"backwards"`  // the home read backwards, in the order of reading
	Profile    []string `json:"profile"`    // own posts and continuations
	Replies    []string `json:"replies"`    // own posts and all replies
	List       []string `json:"list"`       // posts of the members of the user's list
	Mentions   []string `json:"mentions"`   // posts that mention the user
	Tagged     []string `json:"tagged"`     // posts with the hashtag that is the name of the user: those that mention the user
	Following  []string `json:"following"`  // usernames
	Hidden     []string `json:"hidden"`     // those of them whose reposts the home does not show
	Posts      int      `json:"posts"`      // postCount
	Followers  int      `json:"followers"`  // followerCount
	Followings int      `json:"followings"` // followingCount
}

// Thread has the replies to a post, its likes, and the number of its reposts, at the end.
type Thread struct {
	Text    string   `json:"text"`    // of the post
	Replies []string `json:"replies"` // texts, oldest first
	Count   int      `json:"count"`   // replyCount
	Likers  []string `json:"likers"`  // usernames
	Likes   int      `json:"likes"`   // likeCount
	Reposts int      `json:"reposts"` // repostCount
}

// Fault is an injected fault.
type Fault struct {
	Name string `json:"name"`
	At   int64  `json:"at"` // when its injection began
}

// History is what happened in one run.
type History struct {
	Seed       uint64      `json:"seed"`
	Faults     []Fault     `json:"faults"` // in the order of injection
	Operations []Operation `json:"operations"`
	Streams    []Stream    `json:"streams"`
	Views      []View      `json:"views"`
	Threads    []Thread    `json:"threads"` // of all posts that were not deleted
}

// Recorder collects a history from many goroutines.
type Recorder struct {
	start time.Time
	mu    sync.Mutex
	found History
}

// NewRecorder starts a history.
func NewRecorder(seed uint64) *Recorder {
	return &Recorder{start: time.Now(), found: History{Seed: seed}}
}

// Now returns the time of the run in nanoseconds.
func (r *Recorder) Now() int64 { return int64(time.Since(r.start)) }

// Operation records an operation that has returned.
func (r *Recorder) Operation(o Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found.Operations = append(r.found.Operations, o)
}

// Fault records an injected fault.
func (r *Recorder) Fault(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found.Faults = append(r.found.Faults, Fault{Name: name, At: r.Now()})
}

// Stream records all that a subscriber received.
func (r *Recorder) Stream(s Stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found.Streams = append(r.found.Streams, s)
}

// View records what a user sees at the end.
func (r *Recorder) View(v View) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found.Views = append(r.found.Views, v)
}

// Thread records the replies to a post and its likes at the end.
func (r *Recorder) Thread(t Thread) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found.Threads = append(r.found.Threads, t)
}

// History returns what was recorded so far.
func (r *Recorder) History() *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.found
	return &found
}

// Write writes a history as JSON.
func (h *History) Write(w io.Writer) error {
	if err := json.NewEncoder(w).Encode(h); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

// ReadFile reads a history from a file that Write has written.
func ReadFile(path string) (*History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	defer func() { _ = f.Close() }()
	var h History
	if err := json.NewDecoder(f).Decode(&h); err != nil {
		return nil, fmt.Errorf("read the history %s: %w", path, err)
	}
	return &h, nil
}
