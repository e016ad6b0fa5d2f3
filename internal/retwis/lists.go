package retwis

import "time"

// ListID identifies a list of users. It is made like a [UserID], in the bucket of the
// list's owner, whose partition it lives in.
type ListID int64

func (id ListID) String() string { return UserID(id).String() }

// Bucket returns the bucket that names the partition of the list and of its owner.
func (id ListID) Bucket() int { return UserID(id).Bucket() }

// ParseListID reads the decimal form that [ListID.String] writes.
func ParseListID(s string) (ListID, error) {
	id, err := ParseUserID(s)
	return ListID(id), err
}

// Bounds of lists.
const (
	MaxLists       = 1000 // of one owner
	MaxListMembers = 5000
)

// List is a list of users, kept by its owner, with a timeline of its members' posts.
type List struct {
	ID        ListID
	OwnerID   UserID
	Name      string
	CreatedAt time.Time
}

// ListEdge is a list at its place among its owner's.
type ListEdge struct {
	Cursor Cursor
	List   *List
}

// ListPage is one page of an owner's lists, newest first.
type ListPage struct {
	Edges           []ListEdge
	HasNextPage     bool
	HasPreviousPage bool
}

// Errors about lists.
var (
	ErrListNotFound = FieldError(CodeNotFound, "listId", "list not found")
	ErrListNotOwned = FieldError(CodeNotOwner, "listId", "only the owner can change a list")
)

// Membership asks about a user and a list.
type Membership struct {
	List ListID
	User UserID
}
