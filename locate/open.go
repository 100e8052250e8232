package locate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/source"
)

// opener is one call of Open.
type opener struct {
	model    string
	opts     Options
	env      source.Env
	endpoint string
	ref      Ref
	notices  []Notice
}

// Open finds the model and returns where its files can be read, with what the
// user should know about the choice. Errors of the Hub are *hub.Error; what is
// nowhere gives *NowhereError.
func Open(ctx context.Context, model string, opts Options) (source.Source, []Notice, error) {
	o := &opener{model: model, opts: opts, env: opts.Env}
	if o.env == nil {
		o.env = source.OSEnv()
	}
	src, err := o.open(ctx)
	return src, o.notices, err
}

func (o *opener) open(ctx context.Context) (source.Source, error) {
	if o.model == "" {
		return nil, errors.New("no model is named: give a path, org/name, or an address of the Hub")
	}
	var err error
	if o.endpoint, err = hub.Endpoint(o.opts.Endpoint, o.env); err != nil {
		return nil, err
	}
	if src, ok, err := o.local(ctx); ok {
		return src, err
	}
	if err := o.parse(); err != nil {
		return nil, err
	}
	if o.offline() {
		return o.fallback(ctx, nil)
	}
	return o.online(ctx)
}

func (o *opener) parse() error {
	ref, err := ParseRef(o.model, o.endpoint)
	if err != nil {
		return err
	}
	if o.opts.Revision != "" {
		if ref.Revision != "" && ref.Revision != o.opts.Revision {
			return fmt.Errorf("two revisions are named: %s and %s", ref.Revision, o.opts.Revision)
		}
		ref.Revision = o.opts.Revision
	}
	o.ref = ref
	return nil
}

func (o *opener) offline() bool { return o.opts.Offline || hub.EnvOffline(o.env) }

func (o *opener) online(ctx context.Context) (source.Source, error) {
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	m, err := client.Model(ctx, o.ref.Repo, o.ref.Revision)
	switch {
	case err == nil:
		o.noteRenamed(m.Metadata())
		return o.part(ctx, m, nil)
	case hub.Unreachable(err) && ctx.Err() == nil:
		return o.fallback(ctx, err)
	}
	return nil, o.hint(err)
}

func (o *opener) noteRenamed(meta hub.Metadata) {
	if meta.ID != o.ref.Repo {
		// The report names it by that; the next run may as well.
		o.note(Renamed, "%s is %s on the Hub", o.ref.Repo, meta.ID)
	}
}

// part narrows a source to the folder or file that was asked for.
func (o *opener) part(ctx context.Context, src source.Source, err error) (source.Source, error) {
	if err != nil {
		return nil, err
	}
	if o.ref.Path != "" {
		if src, err = part(ctx, src, o.ref.Path); err != nil {
			return nil, err
		}
	}
	return source.Sub(ctx, src, o.opts.Subfolder)
}

func part(ctx context.Context, src source.Source, path string) (source.Source, error) {
	files, err := src.List(ctx)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(files, func(f source.File) bool { return f.Path == path }) {
		return source.Only(ctx, src, path)
	}
	return source.Sub(ctx, src, path)
}

func (o *opener) note(topic Topic, format string, args ...any) {
	o.notices = append(o.notices, Notice{topic, fmt.Sprintf(format, args...)})
}
