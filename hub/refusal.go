package hub

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"unicode"
)

const maxMessage = 300

// refusal turns an answer other than a success into an Error, in the order of
// precedence of the official client. It reads the start of the body.
func (c *Client) refusal(resp *http.Response, what subject) *Error {
	code := resp.Header.Get("X-Error-Code")
	e := c.fault(what, "", c.message(resp))
	e.Status = resp.StatusCode
	e.Kind = kindOf(code, e.Message, resp.StatusCode)
	if e.Kind == RateLimited {
		e.RetryIn, _ = askedPause(resp)
	}
	return e
}

func kindOf(code, message string, status int) ErrorKind {
	lower := strings.ToLower(message)
	switch {
	case code == "RevisionNotFound":
		return RevisionNotFound
	case code == "EntryNotFound":
		return EntryNotFound
	case code == "GatedRepo":
		return Gated
	case strings.HasPrefix(lower, "access to this resource is disabled"):
		return Disabled
	case status == http.StatusUnauthorized && strings.Contains(lower, "invalid") &&
		(strings.Contains(lower, "credential") || strings.Contains(lower, "token")):
		return BadToken
	case code == "RepoNotFound", status == http.StatusUnauthorized:
		return RepoNotFound
	}
	return kindOfStatus(status)
}

func kindOfStatus(status int) ErrorKind {
	switch {
	case status == http.StatusBadRequest:
		return BadRequest
	case status == http.StatusForbidden:
		return Forbidden
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusRequestedRangeNotSatisfiable:
		return BadRange
	case status == http.StatusRequestTimeout:
		return TimedOut
	case status >= 500:
		return ServerFailed
	}
	return Inconsistency
}

// message finds what the server says went wrong, in a header or in the body.
func (c *Client) message(resp *http.Response) string {
	text := resp.Header.Get("X-Error-Message")
	if text == "" && strings.Contains(resp.Header.Get("Content-Type"), "json") {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		var parsed struct{ Error string }
		if json.Unmarshal(body, &parsed) == nil {
			text = parsed.Error
		}
	}
	return c.clean(text)
}

var addressQuery = regexp.MustCompile(`(\bhttps?://[^\s?"']+)\?[^\s"']*`)

// clean makes foreign text fit for a message: one short line without control
// characters, tokens and signatures, whatever a server may echo.
func (c *Client) clean(text string) string {
	if c.opts.Token != "" {
		text = strings.ReplaceAll(text, c.opts.Token, "***")
	}
	text = addressQuery.ReplaceAllString(text, "$1")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// subject is what a request is about, for its errors.
type subject struct{ repo, revision, file string }

func (c *Client) fault(what subject, kind ErrorKind, message string) *Error {
	return &Error{
		Kind: kind, Endpoint: c.shown, Message: message,
		Repo: what.repo, Revision: what.revision, File: what.file,
		Anonymous: c.opts.Token == "",
	}
}
