package locate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hf-inspect/hf-inspect/source"
)

// NowhereError is the answer for a model that neither the Hub nor the cache
// nor a recording gave. It wraps the failure to reach the Hub, if that was
// tried, and fs.ErrNotExist.
type NowhereError struct {
	Model string
	Tried []string // what was tried and what came of it, in order
	Cause error    // why the Hub was not reached; nil when offline
}

func (e *NowhereError) Error() string {
	return fmt.Sprintf("%s cannot be read: %s", e.Model, strings.Join(e.Tried, "; "))
}

// Unwrap returns the causes.
func (e *NowhereError) Unwrap() []error {
	if e.Cause == nil {
		return []error{fs.ErrNotExist}
	}
	return []error{e.Cause, fs.ErrNotExist}
}

// fallback answers without the Hub; cause says why it was not reached, nil
// that it was not asked.
func (o *opener) fallback(ctx context.Context, cause error) (source.Source, error) {
	why := "offline"
	if cause != nil {
		why = cause.Error()
	}
	cached, cacheErr := o.cached()
	if cacheErr == nil {
		if src, err := o.part(ctx, cached, nil); err == nil {
			o.note(FromCache, "%s: read from the cache at commit %s", why, short(cached.Info().Revision))
			return src, nil
		} else {
			cacheErr = err
		}
	}
	if rec, ok := o.recording(); ok {
		src, err := o.part(ctx, rec, nil)
		if err == nil {
			o.note(FromRecord, "%s: read from the recording of %s", why, rec.Info().Location)
		}
		return src, err
	}
	if !errors.Is(cacheErr, fs.ErrNotExist) {
		return nil, cacheErr
	}
	return nil, &NowhereError{Model: o.model, Cause: cause, Tried: []string{why, cacheErr.Error(), o.noRecording()}}
}

// cached opens the snapshot in the cache. A legacy name is also looked for
// under the full name that a recording of it has.
func (o *opener) cached() (source.Source, error) {
	src, err := source.OpenCache(o.ref.Repo, o.ref.Revision, o.env)
	if err == nil || o.opts.Recordings == nil || strings.Contains(o.ref.Repo, "/") {
		return src, err
	}
	if rec, ok := o.opts.Recordings.Find(o.ref.Repo); ok {
		if full := rec.Info().Location; strings.HasSuffix(full, "/"+o.ref.Repo) {
			if src, ferr := source.OpenCache(full, o.ref.Revision, o.env); ferr == nil {
				return src, nil
			}
		}
	}
	return nil, err
}

// recording finds a recording of the revision asked for. A recording is of
// one commit, which stands for main.
func (o *opener) recording() (source.Source, bool) {
	if o.opts.Recordings == nil {
		return nil, false
	}
	rec, ok := o.opts.Recordings.Find(o.ref.Repo)
	if !ok {
		return nil, false
	}
	switch o.ref.Revision {
	case "", "main", rec.Info().Revision:
		return rec, true
	}
	return nil, false
}

func (o *opener) noRecording() string {
	if o.opts.Recordings != nil && o.ref.Revision != "" {
		if rec, ok := o.opts.Recordings.Find(o.ref.Repo); ok {
			return fmt.Sprintf("the recording is of another revision (%s)", orMain(rec.Info().Revision))
		}
	}
	return "there is no recording of it"
}

// hint adds to an answer of the Hub what could be read instead.
func (o *opener) hint(err error) error {
	if cached, cerr := o.cached(); cerr == nil {
		return fmt.Errorf("%w; the cache holds commit %s of it, which offline reading gives", err, short(cached.Info().Revision))
	}
	if rec, ok := o.recording(); ok {
		return fmt.Errorf("%w; there is a recording of it, which offline reading gives (%s)", err, rec.Info().Location)
	}
	return err
}

func orMain(revision string) string {
	if revision == "" {
		return "main"
	}
	return short(revision)
}

func short(commit string) string {
	if source.IsCommit(commit) {
		return commit[:12]
	}
	return commit
}
