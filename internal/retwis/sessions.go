package retwis

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// SessionKey is the key of a session in the store: the bucket of its user and the
// hexadecimal SHA-256 of its token.
type SessionKey struct {
	Bucket int
	Hash   string
}

// SessionID identifies a session to its user. It neither grants access nor reveals the key.
type SessionID struct {
	User UserID
	name string // sessionNameBytes in hexadecimal
}

// sessionNameBytes is enough to distinguish the sessions of one user.
const sessionNameBytes = 10

// SessionIDOf returns the id of a session.
func SessionIDOf(user UserID, key SessionKey) SessionID {
	sum := sha256.Sum256([]byte("name of session " + key.Hash))
	return SessionID{user, hex.EncodeToString(sum[:sessionNameBytes])}
}

// String returns the form that [ParseSessionID] parses.
func (id SessionID) String() string { return id.User.String() + "." + id.name }

// ParseSessionID parses the result of [SessionID.String] and accepts no other form.
func ParseSessionID(s string) (SessionID, error) {
	user, name, _ := strings.Cut(s, ".")
	owner, err := ParseUserID(user)
	if err != nil {
		return SessionID{}, fmt.Errorf("session id: %w", err)
	}
	raw, err := hex.DecodeString(name)
	if err != nil || len(raw) != sessionNameBytes || hex.EncodeToString(raw) != name {
		return SessionID{}, fmt.Errorf("invalid name %.40q in a session id", name)
	}
	return SessionID{owner, name}, nil
}

// Session is a login that has not ended.
type Session struct {
	ID         SessionID
	CreatedAt  time.Time
	LastSeenAt time.Time // at most the store's SessionRenewal before the last use
	UserAgent  *string   // result of [CleanUserAgent]; nil if the client sent none
	Current    bool      // whether it is the session of the request
}

// NewSession is a session to create.
type NewSession struct {
	User      UserID
	Key       SessionKey
	UserAgent string
}

// SessionOwner is the user of a session, and the generation of the session. All sessions of
// a user with a lower generation ended before the first one of a higher generation began.
type SessionOwner struct {
	User        UserID
	Generation  int64
	FilterEpoch int64 // of the user
}

// SessionEnd reports ended sessions: one session; if the hash is empty, every session of the
// user with a generation below Generation. The zero value means that reports may have been
// lost, so the receiver must check all open sessions.
type SessionEnd struct {
	User       UserID
	Session    SessionKey
	Generation int64
}

// Ends reports whether a session is among those that ended.
func (e SessionEnd) Ends(holder SessionOwner, session SessionKey) bool {
	if e.Session.Hash != "" {
		return e.Session.Hash == session.Hash
	}
	return e.User == holder.User && holder.Generation < e.Generation
}

// maxUserAgent is the maximum length of a stored user agent.
const maxUserAgent = 256

// CleanUserAgent returns a user agent in a form that is safe to display and log: at most 256
// printable ASCII characters without repeated spaces.
func CleanUserAgent(agent string) string {
	var b strings.Builder
	space := false
	for i := 0; i < len(agent) && b.Len() < maxUserAgent; i++ {
		c := agent[i]
		if c <= ' ' || c > '~' {
			space = b.Len() > 0
			continue
		}
		if space {
			if b.Len()+2 > maxUserAgent {
				break
			}
			b.WriteByte(' ')
		}
		space = false
		b.WriteByte(c)
	}
	return b.String()
}
