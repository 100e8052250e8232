package hub

import (
	"net/http"
	"time"
)

// DefaultEndpoint is the address of the Hub.
const DefaultEndpoint = "https://huggingface.co"

// HeadersMode says how the headers of a sharded checkpoint are read.
type HeadersMode string

// The modes.
const (
	HeadersAuto   HeadersMode = "auto"   // the Hub's answer for all shards where it can be trusted, else ranges
	HeadersRanges HeadersMode = "ranges" // the files themselves, always
)

// Timeouts bound what a network can do to a run. Zero values stand for the
// defaults.
type Timeouts struct {
	Connect time.Duration // until there is a connection, name look-up and TLS included; 3.5 s
	Stall   time.Duration // without a byte, before or in an answer; 10 s
	Request time.Duration // one attempt, from its start to its last byte; 2 min
	Total   time.Duration // everything the client does; 10 min
}

// Retry says how a failed request is tried again. Zero values stand for the
// defaults.
type Retry struct {
	Attempts int           // all attempts of one request, the first included; 5
	Base     time.Duration // the first pause, doubled each time, with jitter; 500 ms
	Max      time.Duration // the longest pause of our own; 8 s
	MaxWait  time.Duration // the longest pause that a server may ask for; 2 min
}

// Options make a Client. The zero value reads the public Hub anonymously and
// keeps nothing.
type Options struct {
	Endpoint string            // DefaultEndpoint where empty
	Token    string            // sent to the endpoint's host only
	Headers  HeadersMode       // HeadersAuto where empty
	CacheDir string            // folder for what never changes; empty: keep nothing
	Parallel int               // requests at once; 16 where zero
	Timeouts Timeouts          // bounds of time
	Retry    Retry             // what to do about failures that pass
	Base     http.RoundTripper // the network; tests put their own here

	// OnRequest is told of each finished request, hop by hop.
	OnRequest func(Request)
	// OnWait is told before each pause.
	OnWait func(Wait)
}

// Request is one finished request, without anything secret.
type Request struct {
	Method  string
	URL     string // without user, query and fragment
	Range   string // as asked for; "" for all
	Status  int    // 0 where there was no answer
	Bytes   int64  // of the answer's body, as they came
	Elapsed time.Duration
	Err     error // why there was no answer
}

// Wait is a pause before an attempt.
type Wait struct {
	For    time.Duration
	Reason string
}

func (o Options) withDefaults() Options {
	or(&o.Endpoint, DefaultEndpoint)
	or(&o.Headers, HeadersAuto)
	or(&o.Parallel, 16)
	or(&o.Timeouts.Connect, 3500*time.Millisecond)
	or(&o.Timeouts.Stall, 10*time.Second)
	or(&o.Timeouts.Request, 2*time.Minute)
	or(&o.Timeouts.Total, 10*time.Minute)
	or(&o.Retry.Attempts, 5)
	or(&o.Retry.Base, 500*time.Millisecond)
	or(&o.Retry.Max, 8*time.Second)
	or(&o.Retry.MaxWait, 2*time.Minute)
	if o.OnRequest == nil {
		o.OnRequest = func(Request) {}
	}
	if o.OnWait == nil {
		o.OnWait = func(Wait) {}
	}
	return o
}

func or[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
