package hub

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fmt"
)

// stack puts the round trippers of a client on top of each other, the
// outermost first: retry, token, limits, count, network.
func stack(opts Options, endpoint *url.URL, cost *cost) http.RoundTripper {
	base := opts.Base
	if base == nil {
		base = network(opts.Parallel)
	}
	counted := &counter{next: base, cost: cost, done: opts.OnRequest}
	limited := &limits{next: counted, t: opts.Timeouts}
	authorized := &auth{next: limited, endpoint: endpoint, token: opts.Token}
	return &retrier{next: authorized, retry: opts.Retry, onWait: opts.OnWait}
}

// network is the default transport with as many idle connections as requests
// at once, and without its own compression, which would hide what came over
// the wire.
func network(parallel int) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = parallel
	t.DisableCompression = true
	t.MaxResponseHeaderBytes = 256 << 10
	return t
}

// auth adds the token to requests to the Hub's own scheme, host and port. It
// sits below the redirects, each of which therefore is judged by itself, and
// the client above never holds a header that could follow to another host.
type auth struct {
	next     http.RoundTripper
	endpoint *url.URL
	token    string
}

func (a *auth) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	if a.token != "" && sameOrigin(req.URL, a.endpoint) {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.next.RoundTrip(req)
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// cost is what a client has spent.
type cost struct{ requests, bytes atomic.Int64 }

// counter counts requests and bytes as they come over the wire, and tells of
// each finished request.
type counter struct {
	next http.RoundTripper
	cost *cost
	done func(Request)
}

func (c *counter) RoundTrip(req *http.Request) (*http.Response, error) {
	c.cost.requests.Add(1)
	start := time.Now()
	r := Request{Method: req.Method, URL: redact(req.URL), Range: req.Header.Get("Range")}
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		r.Err, r.Elapsed = err, time.Since(start)
		c.done(r)
		return nil, err
	}
	r.Status = resp.StatusCode
	resp.Body = &countedBody{ReadCloser: resp.Body, counter: c, start: start, request: r}
	return resp, nil
}

type countedBody struct {
	io.ReadCloser
	counter *counter
	start   time.Time
	request Request
	once    sync.Once
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.request.Bytes += int64(n)
	b.counter.cost.bytes.Add(int64(n))
	return n, err
}

func (b *countedBody) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() {
		b.request.Elapsed = time.Since(b.start)
		b.counter.done(b.request)
	})
	return err
}

// redact gives an address without what can be secret in it.
func redact(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return shown.String()
}

// bare takes the address, which can carry a signature, off an error of
// net/http.
func bare(err error) error {
	var ue *url.Error
	for errors.As(err, &ue) {
		err = ue.Err
	}
	return err
}

// String gives one line for a log.
func (r Request) String() string {
	line := r.Method + " " + r.URL
	if r.Range != "" {
		line += " [" + strings.TrimPrefix(r.Range, "bytes=") + "]"
	}
	if r.Err != nil {
		return fmt.Sprintf("%s failed after %s: %v", line, r.Elapsed.Round(time.Millisecond), bare(r.Err))
	}
	return fmt.Sprintf("%s %d, %d bytes in %s", line, r.Status, r.Bytes, r.Elapsed.Round(time.Millisecond))
}
