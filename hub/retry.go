package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxTimeouts bounds attempts that ended in silence: each costs a whole
// time-out.
const maxTimeouts = 2

// retrier repeats requests that failed for a reason that passes.
type retrier struct {
	next   http.RoundTripper
	retry  Retry
	onWait func(Wait)

	// reached is set by the first answer. Before it, a connection that cannot
	// be made is taken at its word, so that a fallback answers at once.
	reached atomic.Bool
}

// pauseError asks the back-off to go on.
type pauseError struct {
	reason string
	asked  error // *backoff.RetryAfterError where the server named a time
}

func (e *pauseError) Error() string { return e.reason }
func (e *pauseError) Unwrap() error { return e.asked }

type attemptsKey struct{}

// withAttempts lowers how often requests under ctx are tried.
func withAttempts(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, attemptsKey{}, n)
}

func (r *retrier) attempts(ctx context.Context) int {
	if n, ok := ctx.Value(attemptsKey{}).(int); ok {
		return min(n, r.retry.Attempts)
	}
	return r.retry.Attempts
}

func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		return r.next.RoundTrip(req)
	}
	left, timeouts := r.attempts(req.Context()), 0
	attempt := func() (*http.Response, error) {
		left--
		resp, err := r.next.RoundTrip(req)
		if err == nil {
			return r.judge(resp, left)
		}
		if timedOut(err) {
			timeouts++
		}
		if req.Context().Err() != nil || left == 0 || timeouts >= maxTimeouts || !r.passes(err) {
			return nil, backoff.Permanent(err)
		}
		return nil, &pauseError{reason: bare(err).Error()}
	}
	return backoff.Retry(req.Context(), attempt, r.retry.options(r.onWait)...)
}

func (r Retry) options(onWait func(Wait)) []backoff.RetryOption {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval, pauses.Multiplier = r.Base, r.Max, 2
	return []backoff.RetryOption{
		backoff.WithBackOff(pauses),
		backoff.WithMaxElapsedTime(0), // the context holds the bound
		backoff.WithNotify(func(err error, d time.Duration) { onWait(Wait{For: d, Reason: err.Error()}) }),
	}
}

// judge looks at an answer: one that may change is closed and waited for,
// unless this was the last attempt or the wait would be too long.
func (r *retrier) judge(resp *http.Response, left int) (*http.Response, error) {
	r.reached.Store(true)
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return resp, nil
	}
	pause, asked := askedPause(resp)
	if left == 0 || pause > r.retry.MaxWait {
		return resp, nil
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 16<<10) // so that the connection can be used again
	resp.Body.Close()
	why := &pauseError{reason: fmt.Sprintf("%s answered %d %s", resp.Request.URL.Host, resp.StatusCode, http.StatusText(resp.StatusCode))}
	if asked {
		why.asked = &backoff.RetryAfterError{Duration: pause}
	}
	return nil, why
}

// askedPause reads how long the server wants us to wait: the rest of the
// window plus a second where the rate limit is used up, else Retry-After in
// seconds or as a date.
func askedPause(resp *http.Response) (time.Duration, bool) {
	if resp.StatusCode == http.StatusTooManyRequests {
		if t, ok := windowLeft(resp.Header.Get("Ratelimit")); ok {
			return t + time.Second, true
		}
	}
	after := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if n, err := strconv.ParseInt(after, 10, 32); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, true
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

// windowLeft reads `"api";r=0;t=55`.
func windowLeft(header string) (time.Duration, bool) {
	var spent bool
	var left time.Duration
	for _, item := range strings.Split(header, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 0 {
			continue
		}
		switch key {
		case "r":
			spent = n == 0
		case "t":
			left = time.Duration(n) * time.Second
		}
	}
	return left, spent && left > 0
}

// passes reports whether a failed attempt may go better the next time.
func (r *retrier) passes(err error) bool {
	return !distrusted(err) && (!neverConnected(err) || r.reached.Load())
}

// neverConnected reports a failure before there was a connection.
func neverConnected(err error) bool {
	var e *connectError
	return errors.As(err, &e)
}

// distrusted reports a failure of TLS, which waiting does not mend.
func distrusted(err error) bool {
	var (
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		host   x509.HostnameError
		signer x509.UnknownAuthorityError
		alert  tls.AlertError
	)
	return errors.As(err, &cert) || errors.As(err, &record) || errors.As(err, &host) ||
		errors.As(err, &signer) || errors.As(err, &alert)
}

func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
