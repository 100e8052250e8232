package hub

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// timeoutError says which bound of time was met.
type timeoutError struct{ text string }

func (e *timeoutError) Error() string { return e.text }

// Timeout makes it a net.Error of that kind for callers that ask.
func (e *timeoutError) Timeout() bool { return true }

// connectError is a failure before there was a connection: of a look-up, a
// proxy, TLS.
type connectError struct{ err error }

func (e *connectError) Error() string { return e.err.Error() }
func (e *connectError) Unwrap() error { return e.err }

// limits bounds the time of one attempt: until there is a connection, between
// two bytes, and as a whole.
type limits struct {
	next http.RoundTripper
	t    Timeouts
}

func (l *limits) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	w := &watch{ctx: ctx, cancel: cancel}
	w.whole = time.AfterFunc(l.t.Request, func() {
		cancel(&timeoutError{"the request took longer than " + l.t.Request.String()})
	})
	w.expect(l.t.Connect, &timeoutError{"no connection within " + l.t.Connect.String()})
	stalled := &timeoutError{"nothing came for " + l.t.Stall.String() + " (HF_HUB_DOWNLOAD_TIMEOUT sets another limit)"}
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected.Store(true)
		w.expect(l.t.Stall, stalled)
	}}

	resp, err := l.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, trace)))
	if err != nil {
		err = w.cause(err)
		w.stop()
		if !connected.Load() {
			err = &connectError{err}
		}
		return nil, err
	}
	w.expect(l.t.Stall, stalled)
	resp.Body = &watchedBody{ReadCloser: resp.Body, watch: w, stall: l.t.Stall, stalled: stalled}
	return resp, nil
}

// watch cancels an attempt when what is expected next does not come in time.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	whole  *time.Timer

	mu   sync.Mutex
	next *time.Timer
	done bool
}

func (w *watch) expect(within time.Duration, otherwise error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	if w.next != nil {
		w.next.Stop()
	}
	w.next = time.AfterFunc(within, func() { w.cancel(otherwise) })
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	w.whole.Stop()
	w.next.Stop()
	w.cancel(nil)
}

// cause gives our own reason for a cancelled attempt in place of the network's
// words for it.
func (w *watch) cause(err error) error {
	if cause := context.Cause(w.ctx); cause != nil {
		return cause
	}
	return err
}

type watchedBody struct {
	io.ReadCloser
	watch   *watch
	stall   time.Duration
	stalled error
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		return n, b.watch.cause(err)
	}
	b.watch.expect(b.stall, b.stalled)
	return n, err
}

func (b *watchedBody) Close() error {
	err := b.ReadCloser.Close()
	b.watch.stop()
	return err
}
