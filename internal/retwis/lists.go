package retwis

import "time"

// ListID identifies a list of users. It has the form of a [UserID]. A list is in the bucket,
// and so in the partition, of its owner.
type ListID int64

func (id ListID) String() string { return UserID(id).String() }

// Bucket returns the bucket of the list and of its owner, which determines the partition.
func (id ListID) Bucket() int { return UserID(id).Bucket() }

// ParseListID parses the result of [ListID.String].
func ParseListID(s string) (ListID, error) {
	id, err := ParseUserID(s)
	return ListID(id), err
}

// Bounds of lists.
const (
	MaxLists           = 1000 // per owner
	MaxListMembers     = 5000
	MaxListsWithMember = 20 // of one owner: each post of the member is delivered to all of them, and its author pays
)

// List is a private list of users. Its timeline has the posts of its members.
type List struct {
	ID        ListID
	OwnerID   UserID
	Name      string
	CreatedAt time.Time
}

// ListEdge is a list and its position among the lists of its owner.
type ListEdge struct {
	Cursor Cursor
	List   *List
}

// ListPage is one page of the lists of an owner, newest first.
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

// Membership is a pair of a list and a user who may be a member.
type Membership struct {
	List ListID
	User UserID
}
