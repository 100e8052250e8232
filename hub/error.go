package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// ErrorKind says what went wrong, as the Hub or the network means it.
type ErrorKind string

// The kinds of Error.
const (
	RepoNotFound     ErrorKind = "repository not found" // or private: the Hub does not say which
	RevisionNotFound ErrorKind = "revision not found"
	EntryNotFound    ErrorKind = "file not found"
	Gated            ErrorKind = "gated"
	Disabled         ErrorKind = "disabled"
	BadToken         ErrorKind = "invalid token"
	Forbidden        ErrorKind = "forbidden"
	BadRequest       ErrorKind = "bad request"
	RateLimited      ErrorKind = "rate limited"
	ServerFailed     ErrorKind = "server failure"

	NoConnection  ErrorKind = "no connection"
	TimedOut      ErrorKind = "timed out"
	NotTheHub     ErrorKind = "not the Hub" // a captive portal or a wrong endpoint
	BadRedirect   ErrorKind = "bad redirect"
	BadRange      ErrorKind = "wrong range"
	Truncated     ErrorKind = "truncated"
	Changed       ErrorKind = "changed" // the file is not the one of the first answer
	Inconsistency ErrorKind = "unexpected answer"
)

// Error is everything that this package can fail with, apart from cancelled
// contexts and refused paths. Its text holds neither a token nor the query of
// an address.
type Error struct {
	Kind     ErrorKind
	Endpoint string // the Hub's address
	Repo     string
	Revision string // as asked for
	File     string // "" where the repository as a whole is meant
	Status   int    // HTTP status, 0 where there was no answer
	Message  string // what the server said, or the detail of the failure

	Anonymous bool          // no token was sent
	RetryIn   time.Duration // RateLimited: when the server will answer again
	Err       error         // the cause, if it is another error
}

// Unwrap returns the cause; a missing file is fs.ErrNotExist.
func (e *Error) Unwrap() error {
	if e.Kind == EntryNotFound {
		return fs.ErrNotExist
	}
	return e.Err
}

// Error says in one sentence what happened and what can be done.
func (e *Error) Error() string {
	switch e.Kind {
	case RepoNotFound:
		if e.Anonymous {
			return fmt.Sprintf("%s is missing on the Hub, or private: check the name, or set HF_TOKEN to a token that may read it", e.Repo)
		}
		return fmt.Sprintf("%s is missing on the Hub, or private and closed to this token: check the name and the token's rights", e.Repo)
	case RevisionNotFound:
		return fmt.Sprintf("%s has no revision %s; a branch, a tag, a full commit or refs/pr/N is needed", e.Repo, e.revision())
	case EntryNotFound:
		return fmt.Sprintf("%s has no file %s at revision %s", e.Repo, e.File, e.revision())
	case Gated:
		return e.gated()
	case Disabled:
		return fmt.Sprintf("%s is disabled on the Hub; nobody can read it", e.Repo)
	case BadToken:
		return "the Hub does not accept the token: renew it (" + e.Endpoint + "/settings/tokens), or unset it to read public models"
	case RateLimited:
		return e.rateLimited()
	case NoConnection:
		return fmt.Sprintf("no connection to %s (%s)", e.Endpoint, e.Message)
	case NotTheHub:
		return fmt.Sprintf("what answers at %s is not the Hub (%s): a log-in page of the network, or a wrong HF_ENDPOINT", e.Endpoint, e.Message)
	}
	return e.subject() + ": " + e.plainly()
}

// plainly words the kinds that are about one request rather than about the
// repository.
func (e *Error) plainly() string {
	switch e.Kind {
	case ServerFailed:
		return "the server failed" + e.detail() + "; try again later"
	case TimedOut:
		return "timed out" + e.detail()
	case Truncated:
		return "the answer broke off" + e.detail()
	case Forbidden:
		return "access refused" + e.detail()
	case BadRequest:
		return "the Hub does not take the request" + e.detail()
	case BadRedirect, BadRange, Changed:
		return e.Message
	}
	return string(e.Kind) + e.detail()
}

func (e *Error) gated() string {
	page := e.Endpoint + "/" + e.Repo
	if e.Anonymous {
		return fmt.Sprintf("%s is gated: accept its terms at %s and set HF_TOKEN to a token of that account", e.Repo, page)
	}
	return fmt.Sprintf("%s is gated and this token's account has no access: accept its terms at %s, or wait until access is granted", e.Repo, page)
}

func (e *Error) rateLimited() string {
	text := fmt.Sprintf("%s: the Hub's rate limit is used up", e.subject())
	if e.RetryIn > 0 {
		text += fmt.Sprintf(", try again in %s", e.RetryIn.Round(time.Second))
	}
	if e.Anonymous {
		text += "; a token has a higher limit"
	}
	return text
}

func (e *Error) subject() string {
	if e.File != "" {
		return e.File + " of " + e.Repo
	}
	return e.Repo
}

func (e *Error) revision() string {
	if e.Revision == "" {
		return mainBranch
	}
	return e.Revision
}

func (e *Error) detail() string {
	var text string
	if e.Status != 0 {
		text = fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unreachable reports whether err means that no Hub could be asked, so that
// something else may answer. What the Hub says about a repository is an answer.
func Unreachable(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case NoConnection, TimedOut, NotTheHub, BadRedirect, ServerFailed, RateLimited, Truncated:
		return true
	}
	return false
}
