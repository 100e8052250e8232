package locate

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hf-inspect/hf-inspect/hub"
)

func (o *opener) client() (*hub.Client, error) {
	token, err := hub.Token(o.opts.Token, o.opts.TokenFile, o.env)
	if err != nil {
		return nil, err
	}
	cacheDir := ""
	if !o.opts.NoCache {
		cacheDir = hub.CacheDir(o.opts.CacheDir, o.env)
	}
	opts := hub.Options{
		Endpoint: o.endpoint,
		Token:    token,
		Headers:  o.opts.Headers,
		CacheDir: cacheDir,
		Parallel: o.opts.Parallel,
		Timeouts: hub.EnvTimeouts(o.opts.Timeouts, o.env),
		Retry:    o.opts.Retry,
		Base:     o.opts.Transport,
	}
	opts.OnWait = o.opts.OnWait
	if w := o.opts.Verbose; w != nil {
		verbose(&opts, w)
	}
	return hub.NewClient(opts)
}

// verbose writes one line for each request and pause; they come from several
// goroutines.
func verbose(opts *hub.Options, w io.Writer) {
	var mu sync.Mutex
	line := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(w, text)
	}
	opts.OnRequest = func(r hub.Request) { line(r.String()) }
	onWait := opts.OnWait
	opts.OnWait = func(p hub.Wait) {
		line(fmt.Sprintf("waiting %s: %s", p.For.Round(10*time.Millisecond), p.Reason))
		if onWait != nil {
			onWait(p)
		}
	}
}
