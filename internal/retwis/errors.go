package retwis

import (
	"errors"
	"fmt"
)

// Code classifies a failure that a client may see.
type Code string

// Codes of validation errors, which the user can correct. Mutations return them as
// userErrors in their payload.
const (
	CodeBlank            Code = "BLANK"
	CodeTooShort         Code = "TOO_SHORT"
	CodeTooLong          Code = "TOO_LONG"
	CodeInvalid          Code = "INVALID"
	CodeTaken            Code = "TAKEN"
	CodeNotFound         Code = "NOT_FOUND"
	CodeWrongCredentials Code = "WRONG_CREDENTIALS"
	CodeSelfFollow       Code = "SELF_FOLLOW"
	CodeLimitReached     Code = "LIMIT_REACHED"
	CodeNotOwner         Code = "NOT_OWNER"
)

// Codes of the other errors. They are returned as GraphQL errors with the code in the
// extensions. NOT_FOUND may be either.
const (
	CodeUnauthenticated Code = "UNAUTHENTICATED"
	CodeForbidden       Code = "FORBIDDEN"
	CodeBadUserInput    Code = "BAD_USER_INPUT"
	CodeRateLimited     Code = "RATE_LIMITED"
	CodeTooComplex      Code = "COMPLEXITY_LIMIT_EXCEEDED"
	CodeUnavailable     Code = "UNAVAILABLE"
	CodeInternal        Code = "INTERNAL_SERVER_ERROR"
)

// Error is an error that may be shown to a client. Any other error is internal: the server
// logs it in full and shows the client only its id.
type Error struct {
	Code    Code
	Message string
	Field   []string // path below the arguments, such as ["input", "text"]; empty if the error concerns no field

	RetryAfterSeconds int // with RATE_LIMITED and UNAVAILABLE: the time to wait before a retry
}

func (e *Error) Error() string { return e.Message }

// Is makes errors.Is compare by code, so that a sentinel matches its variants
// with another field or message.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Code == e.Code
}

// Errorf returns an [Error] with a code.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// FieldError returns an [Error] about one field of a mutation's input.
func FieldError(code Code, field, format string, args ...any) *Error {
	e := Errorf(code, format, args...)
	e.Field = []string{"input", field}
	return e
}

// UserError reports whether the error is a validation error, returned in the payload of a
// mutation.
func (e *Error) UserError() bool {
	switch e.Code {
	case CodeBlank, CodeTooShort, CodeTooLong, CodeInvalid, CodeTaken, CodeNotFound,
		CodeWrongCredentials, CodeSelfFollow, CodeLimitReached, CodeNotOwner:
		return true
	default:
		return false
	}
}

// ErrSessionReplaced accompanies [ErrUnauthenticated] if the client was just given another
// session and may not know it yet. Clients do not see it.
var ErrSessionReplaced = errors.New("the session was replaced by another")

// Sentinel errors, compared by code.
var (
	ErrUnauthenticated  = Errorf(CodeUnauthenticated, "log in first")
	ErrForbidden        = Errorf(CodeForbidden, "you do not have access to this")
	ErrNotFound         = Errorf(CodeNotFound, "not found")
	ErrBadCursor        = Errorf(CodeBadUserInput, "the cursor does not belong to this connection")
	ErrNameTaken        = FieldError(CodeTaken, "username", "that username is taken")
	ErrWrongCredentials = Errorf(CodeWrongCredentials, "wrong username or password")
	ErrTimelineNotFound = FieldError(CodeNotFound, "timelineId", "timeline not found")
	ErrUserNotFound     = FieldError(CodeNotFound, "userId", "user not found")
	ErrPostNotFound     = FieldError(CodeNotFound, "postId", "post not found")
	ErrNothingToAnswer  = FieldError(CodeNotFound, "inReplyToId", "the post to answer does not exist, or was deleted")
	ErrNothingToQuote   = FieldError(CodeNotFound, "quotedPostId", "the post to quote does not exist, or was deleted")
	ErrNotOwner         = FieldError(CodeNotOwner, "postId", "only the author can delete a post")
	ErrSessionNotFound  = FieldError(CodeNotFound, "sessionId", "session not found")
	ErrSelfFollow       = FieldError(CodeSelfFollow, "userId", "you cannot follow yourself")
	ErrOutboxFull       = &Error{Code: CodeRateLimited, Message: "too many changes are waiting for delivery: try again later", RetryAfterSeconds: 5}
)

// Unavailable returns the error for a failure that passes without a change of the request, such as an outage of Redis.
// Repeating the request after some seconds is safe if the mutation is idempotent.
func Unavailable(retryAfterSeconds int) *Error {
	e := Errorf(CodeUnavailable, "the service is temporarily unavailable: try again")
	e.RetryAfterSeconds = retryAfterSeconds
	return e
}

// ErrNotReplicated means that a failover may lose the write. Repeating the write is safe.
var ErrNotReplicated = errors.New("no replica confirmed the write in time; try again")
