package retwis

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// SessionKey finds a session: the bucket of its user and the hexadecimal SHA-256 of
// its token.
type SessionKey struct {
	Bucket int
	Hash   string
}

// SessionID names a session to its user. It opens nothing, and does not tell the key.
type SessionID struct {
	User UserID
	name string // sessionNameBytes in hexadecimal
}

// sessionNameBytes tell apart the few sessions of one user.
const sessionNameBytes = 10

// SessionIDOf returns what the session of a user is called.
func SessionIDOf(user UserID, key SessionKey) SessionID {
	sum := sha256.Sum256([]byte("name of session " + key.Hash))
	return SessionID{user, hex.EncodeToString(sum[:sessionNameBytes])}
}

// String returns the form that [ParseSessionID] reads.
func (id SessionID) String() string { return id.User.String() + "." + id.name }

// ParseSessionID reads the id of a session, in the one spelling that it has.
func ParseSessionID(s string) (SessionID, error) {
	user, name, _ := strings.Cut(s, ".")
	owner, err := ParseUserID(user)
	if err != nil {
		return SessionID{}, fmt.Errorf("session id: %w", err)
	}
	raw, err := hex.DecodeString(name)
	if err != nil || len(raw) != sessionNameBytes || hex.EncodeToString(raw) != name {
		return SessionID{}, fmt.Errorf("session id with the name %.40q", name)
	}
	return SessionID{owner, name}, nil
}

// Session is a login that has not ended.
type Session struct {
	ID         SessionID
	CreatedAt  time.Time
	LastSeenAt time.Time // not before the last use by more than the store's SessionRenewal
	UserAgent  *string   // as [CleanUserAgent] leaves it; nil where the client said nothing
	Current    bool      // whether it is the session that asks
}

// NewSession is a session that is to be opened.
type NewSession struct {
	User      UserID
	Key       SessionKey
	UserAgent string
}

// SessionOwner is whose session it is. Of a user's sessions those of an earlier
// generation than another have all ended when the other began.
type SessionOwner struct {
	User       UserID
	Generation int64
}

// SessionEnd says which sessions ended: one; every session of a user of a generation
// before Generation, when the hash is empty; or, as the zero value, that news may have
// been lost and each open session is to be checked.
type SessionEnd struct {
	User       UserID
	Session    SessionKey
	Generation int64
}

// Ends reports whether the session of a holder is among those that ended.
func (e SessionEnd) Ends(holder SessionOwner, session SessionKey) bool {
	if e.Session.Hash != "" {
		return e.Session.Hash == session.Hash
	}
	return e.User == holder.User && holder.Generation < e.Generation
}

// maxUserAgent is how many characters of a client's name are kept.
const maxUserAgent = 256

// CleanUserAgent returns what a client says that it is in a form that can be shown and
// logged: printable ASCII, without spaces in a row, 256 characters at most.
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
