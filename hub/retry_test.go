package hub_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
)

// What passes is tried again, on either host and for each kind of request.
func TestRetries(t *testing.T) {
	faults := map[string]hubtest.Fault{
		"408":                {Times: 2, Do: hubtest.Status(http.StatusRequestTimeout)},
		"429":                {Times: 2, Do: hubtest.Status(http.StatusTooManyRequests, "Retry-After", "0")},
		"429 without a time": {Times: 1, Do: hubtest.Status(http.StatusTooManyRequests, "Ratelimit", `"api";r=7;t=200`)},
		"500":                {Times: 2, Do: hubtest.Status(http.StatusInternalServerError)},
		"502":                {Times: 2, Do: hubtest.Status(http.StatusBadGateway)},
		"503":                {Times: 4, Do: hubtest.Status(http.StatusServiceUnavailable)},
		"504":                {Times: 2, Do: hubtest.Status(http.StatusGatewayTimeout)},
		"reset":              {Times: 2, Do: hubtest.Reset()},
		"truncated":          {Times: 2, Do: hubtest.Truncate(10)},
		"silence":            {Times: 1, Do: hubtest.Stall(-1)},
		"stall in a body":    {Times: 1, Do: hubtest.Stall(3)},
	}
	places := map[string]hubtest.Fault{
		"metadata": {Host: hubtest.OnHub, Path: "blobs=true"},
		"config":   {Host: hubtest.OnHub, Path: "resolve-cache"},
		"weights":  {Host: hubtest.OnCDN},
	}
	for name, fault := range faults {
		for where, place := range places {
			t.Run(name+"/"+where, func(t *testing.T) {
				t.Parallel()
				h := hubtest.Start(t)
				weights := single(h, "org/name")
				fault := fault
				fault.Host, fault.Path = place.Host, place.Path
				h.Fail(fault)
				opts := quick(h)
				if strings.HasPrefix(name, "s") {
					opts.Timeouts.Stall = 300 * time.Millisecond
				}
				var waits atomic.Int64
				opts.OnWait = func(w hub.Wait) { waits.Add(1) }
				m := model(t, opts, "org/name", "")
				if _, err := whole(t.Context(), m, "config.json"); err != nil {
					t.Fatal(err)
				}
				got, err := header(t.Context(), m, "model.safetensors")
				if err != nil {
					t.Fatal(err)
				}
				wantHeader(t, got, weights)
				// net/http repeats by itself what was lost with an idle connection.
				if n := int(waits.Load()); n > fault.Times || n < fault.Times-1 {
					t.Errorf("%d waits, want %d", n, fault.Times)
				}
			})
		}
	}
}

// The rest of the window plus a second, or Retry-After, is waited for and shown.
func TestAskedPauses(t *testing.T) {
	for name, headers := range map[string][]string{
		"window":      {"Ratelimit", `"api";r=0;t=1`, "Retry-After", "0"},
		"retry-after": {"Retry-After", "2"},
		"date":        {"Retry-After", time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat)},
	} {
		t.Run(name, func(t *testing.T) {
			h := hubtest.Start(t)
			single(h, "org/name")
			h.Fail(hubtest.Fault{Do: hubtest.Status(http.StatusTooManyRequests, headers...)})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var shown time.Duration
			opts := quick(h)
			opts.OnWait = func(w hub.Wait) { shown = w.For; cancel() }
			start := time.Now()
			_, err := client(t, opts).Model(ctx, "org/name", "")
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want the cancelled context", err)
			}
			if shown < time.Second || shown > 3*time.Second {
				t.Errorf("would wait %s", shown)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("gave up only after %s", took)
			}
		})
	}
}

// A wait that nobody would sit through is said, not made.
func TestTooLongAPause(t *testing.T) {
	h := hubtest.Start(t)
	single(h, "org/name")
	h.Fail(hubtest.Fault{Do: hubtest.Status(http.StatusTooManyRequests, "Ratelimit", `"api";r=0;t=277`)})
	_, err := client(t, quick(h)).Model(t.Context(), "org/name", "")
	e := wantKind(t, err, hub.RateLimited)
	if e.RetryIn != 278*time.Second || len(h.Requests()) != 1 {
		t.Errorf("retry in %s after %d requests", e.RetryIn, len(h.Requests()))
	}
}

func TestAttemptsEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		do       func(http.ResponseWriter, *http.Request, http.Handler)
		kind     hub.ErrorKind
		requests int
	}{
		"503":       {hubtest.Status(503), hub.ServerFailed, 5},
		"429":       {hubtest.Status(429), hub.RateLimited, 5},
		"404":       {hubtest.Status(404, "X-Error-Code", "RepoNotFound"), hub.RepoNotFound, 1},
		"silence":   {hubtest.Stall(-1), hub.TimedOut, 2},
		"reset":     {hubtest.Reset(), hub.Truncated, 5},
		"truncated": {hubtest.Truncate(10), hub.Truncated, 5},
		"portal":    {hubtest.Portal(), hub.NotTheHub, 1},
		"circle":    {hubtest.Circle(), hub.BadRedirect, 2},
		"maze":      {hubtest.Maze(), hub.BadRedirect, 11},
		"nonsense":  {hubtest.Redirect("ht!tp://%zz?Signature=s3cr3t-signature"), hub.BadRedirect, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hubtest.Start(t)
			single(h, "org/name")
			h.Fail(hubtest.Fault{Do: tt.do})
			opts := quick(h)
			if name == "silence" {
				opts.Timeouts.Stall = 100 * time.Millisecond
			}
			_, err := client(t, opts).Model(t.Context(), "org/name", "")
			e := wantKind(t, err, tt.kind)
			t.Log(e)
			if n := len(h.Requests()); n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
		})
	}
}

func TestTimeBounds(t *testing.T) {
	h := hubtest.Start(t)
	single(h, "org/name")
	h.Latency = 10 * time.Second // stalls before each answer
	t.Run("whole", func(t *testing.T) {
		opts := quick(h)
		opts.Timeouts.Total = 50 * time.Millisecond
		_, err := client(t, opts).Model(t.Context(), "org/name", "")
		wantKind(t, err, hub.TimedOut)
	})
	t.Run("request", func(t *testing.T) {
		opts := quick(h)
		opts.Timeouts.Request = 50 * time.Millisecond
		_, err := client(t, opts).Model(t.Context(), "org/name", "")
		wantKind(t, err, hub.TimedOut)
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := client(t, quick(h)).Model(ctx, "org/name", "")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}
