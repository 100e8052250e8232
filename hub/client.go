package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/hf-inspect/hf-inspect/source"
)

const (
	maxHops   = 10
	userAgent = "hf-inspect (+https://github.com/hf-inspect/hf-inspect)"
)

// Client talks to one Hub. It is safe for concurrent use.
type Client struct {
	opts     Options
	endpoint *url.URL
	shown    string // the endpoint for messages
	stack    http.RoundTripper
	slots    chan struct{}
	deadline time.Time
	cost     cost
	store    *store
}

// NewClient returns a client; the bound of time for all it does begins to run.
func NewClient(opts Options) (*Client, error) {
	opts = opts.withDefaults()
	if opts.Headers != HeadersAuto && opts.Headers != HeadersRanges {
		return nil, fmt.Errorf("headers are read by %s or %s, not by %q", HeadersAuto, HeadersRanges, opts.Headers)
	}
	endpoint, err := url.Parse(opts.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("the Hub's address is not well-formed: %w", bare(err))
	}
	c := &Client{
		opts:     opts,
		endpoint: endpoint,
		shown:    redact(endpoint),
		slots:    make(chan struct{}, opts.Parallel),
		deadline: time.Now().Add(opts.Timeouts.Total),
		store:    newStore(opts.CacheDir, redact(endpoint)),
	}
	c.stack = stack(opts, endpoint, &c.cost)
	return c, nil
}

// Access returns what the client has spent so far.
func (c *Client) Access() source.Access {
	return source.Access{Requests: c.cost.requests.Load(), Bytes: c.cost.bytes.Load()}
}

// query is one thing to ask for.
type query struct {
	url     string
	rng     string // Range header, "" for the whole
	gzip    bool   // whether the answer may come compressed
	subject subject
}

// answer is a response together with what the hops before it said.
type answer struct {
	*http.Response
	commit     string // X-Repo-Commit
	etag       string // X-Linked-Etag, else ETag, of the Hub's own answer
	linkedSize string
	moved      bool   // another host than the one asked gave the answer
	final      string // where the answer came from; can hold a signature
	ctx        context.Context
	release    func()
}

func (a *answer) Close() {
	a.Body.Close()
	a.release()
}

// errHop is what a redirect is refused with.
type errHop struct{ text string }

func (e *errHop) Error() string { return e.text }

// get sends a GET and follows where it leads. The answer, of whatever status,
// must be closed. Only so many are open at once as the options allow.
func (c *Client) get(ctx context.Context, q query) (*answer, error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithDeadlineCause(ctx, c.deadline,
		&timeoutError{"the whole took longer than " + c.opts.Timeouts.Total.String()})
	release := func() { cancel(); <-c.slots }
	a, err := c.follow(ctx, q)
	if err != nil {
		err = c.failure(ctx, err, q.subject)
		release()
		return nil, err
	}
	a.ctx, a.release = ctx, release
	return a, nil
}

func (c *Client) follow(ctx context.Context, q query) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, q.url, nil)
	if err != nil {
		return nil, bare(err)
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept-Encoding", "identity")
	if q.gzip {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	if q.rng != "" {
		req.Header.Set("Range", q.rng)
	}
	a := &answer{}
	hc := http.Client{Transport: c.stack, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		// Go names the last address, signature and all, to the next host.
		next.Header.Del("Referer")
		a.hear(next.Response)
		return checkHop(next, via)
	}}
	resp, err := hc.Do(req)
	if err != nil {
		return nil, bare(err)
	}
	a.hear(resp)
	a.Response = resp
	a.final = resp.Request.URL.String()
	a.moved = !sameOrigin(resp.Request.URL, req.URL)
	return a, nil
}

// hear keeps what the Hub says about a file; a file server behind it says
// nothing of the kind.
func (a *answer) hear(resp *http.Response) {
	first(&a.commit, resp.Header.Get("X-Repo-Commit"))
	first(&a.linkedSize, resp.Header.Get("X-Linked-Size"))
	if a.etag == "" && resp.Header.Get("X-Repo-Commit") != "" {
		a.etag = bareTag(resp.Header.Get("X-Linked-Etag"))
		first(&a.etag, bareTag(resp.Header.Get("Etag")))
	}
}

func first(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

func checkHop(next *http.Request, via []*http.Request) error {
	last := via[len(via)-1].URL
	if last.Scheme == "https" && next.URL.Scheme != "https" {
		return &errHop{"redirected from https to " + next.URL.Scheme}
	}
	for _, before := range via {
		if before.URL.String() == next.URL.String() {
			return &errHop{"redirected in a circle at " + redact(next.URL)}
		}
	}
	if len(via) > maxHops {
		return &errHop{fmt.Sprintf("redirected more than %d times", maxHops)}
	}
	return nil
}

// failure makes an Error out of whatever kept an answer from coming; a cancelled
// context stays what it is.
func (c *Client) failure(ctx context.Context, err error, what subject) error {
	var known *Error
	var te *timeoutError
	var hop *errHop
	if errors.As(err, &known) {
		return err
	}
	kind := Truncated
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &te):
		kind, err = TimedOut, te
	case cause != nil:
		return cause
	case neverConnected(err):
		kind = NoConnection
	case errors.As(err, &hop), lost(err):
		kind = BadRedirect
	case timedOut(err):
		kind = TimedOut
	}
	e := c.fault(what, kind, c.clean(plain(err)))
	e.Err = err
	return e
}
