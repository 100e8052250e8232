package hub

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/hf-inspect/hf-inspect/source"
)

const (
	mainBranch = "main"

	maxMetadata = 64 << 20 // bytes of an answer about a repository
)

// Model is a repository at one commit. It is a source.HeaderSource and a
// source.Meter.
type Model struct {
	client   *Client
	meta     Metadata
	files    map[string]FileInfo
	revision string // as asked for; mainBranch where none was

	mu    sync.Mutex
	head  headState
	links map[string]string // where the bytes of large files are; signed, never kept
	etags map[string]string
	index map[string][]byte // metadata of indexes that came with their headers
	whole map[string][]byte // small files that were read ahead
}

// Model asks for a repository at a revision ("" is main): one request, or none
// where the revision is a commit that was seen before.
func (c *Client) Model(ctx context.Context, repo, revision string) (*Model, error) {
	if revision == "" {
		revision = mainBranch
	}
	if err := CheckID(repo); err != nil {
		return nil, err
	}
	what := subject{repo: repo, revision: revision}
	if meta, ok := c.store.metadata(repo, revision); ok {
		return c.newModel(meta, revision), nil
	}
	meta, err := c.metadata(ctx, what)
	if err != nil {
		return nil, err
	}
	if !sized(meta.Files) {
		if meta.Files, err = c.tree(ctx, meta, what); err != nil {
			return nil, err
		}
	}
	c.store.putMetadata(repo, meta)
	return c.newModel(meta, revision), nil
}

func (c *Client) newModel(meta Metadata, revision string) *Model {
	m := &Model{
		client: c, meta: meta, revision: revision,
		files: make(map[string]FileInfo, len(meta.Files)),
		links: map[string]string{}, etags: map[string]string{}, index: map[string][]byte{}, whole: map[string][]byte{},
	}
	for _, f := range meta.Files {
		m.files[f.Path] = f
	}
	return m
}

func (c *Client) metadata(ctx context.Context, what subject) (Metadata, error) {
	q := query{url: c.modelURL(what.repo, what.revision) + "?blobs=true", gzip: true, subject: what}
	body, a, err := c.load(ctx, q, maxMetadata)
	if err != nil {
		return Metadata{}, err
	}
	meta, disabled, ok := parseModel(body)
	switch {
	case !ok && looksHTML(a.Header.Get("Content-Type"), body):
		return Metadata{}, c.fault(what, NotTheHub, "a web page in place of data")
	case !ok:
		return Metadata{}, c.fault(what, NotTheHub, "an answer that is not about a repository")
	case source.IsCommit(what.revision) && meta.Commit != what.revision:
		return Metadata{}, c.fault(what, Inconsistency, "the Hub answers with commit "+meta.Commit)
	case disabled:
		return Metadata{}, c.fault(what, Disabled, "")
	}
	return meta, nil
}

// load reads a whole answer of at most limit bytes.
func (c *Client) load(ctx context.Context, q query, limit int64) ([]byte, *answer, error) {
	var body []byte
	var a *answer
	err := c.again(ctx, func() (err error) {
		if a, err = c.get(ctx, q); err != nil {
			return final(err)
		}
		defer a.Close()
		if a.StatusCode != http.StatusOK {
			return final(c.refusal(a.Response, q.subject))
		}
		body, err = c.whole(a, q, limit)
		return err
	})
	return body, a, err
}

// modelURL is the address of what the Hub's API says about a revision.
func (c *Client) modelURL(repo, revision string) string {
	return c.opts.Endpoint + "/api/models/" + repo + "/revision/" + url.PathEscape(revision)
}

func escapePath(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// Metadata returns what the Hub said about the repository.
func (m *Model) Metadata() Metadata { return m.meta }

// Figures returns the Hub's own parameter figures, which are about one set of
// weights of the whole repository.
func (m *Model) Figures() (source.Figures, bool) {
	f := source.Figures{Parameters: m.meta.Parameters, Total: m.meta.Total}
	return f, len(f.Parameters) > 0 || f.Total > 0
}

// Info names the repository by its canonical id and the commit.
func (m *Model) Info() source.Info {
	return source.Info{Kind: source.Hub, Location: m.meta.ID, Revision: m.meta.Commit}
}

// Access returns what the client of this model has spent so far.
func (m *Model) Access() source.Access { return m.client.Access() }

// List returns the files of the commit; it makes no request.
func (m *Model) List(context.Context) ([]source.File, error) {
	files := make([]source.File, len(m.meta.Files))
	for i, f := range m.meta.Files {
		files[i] = source.File{Path: f.Path, Size: f.Size}
	}
	return files, nil
}

func (m *Model) subject(file string) subject {
	return subject{m.meta.ID, m.revision, file}
}

// fileURL is the address of a file at a revision.
func (m *Model) fileURL(name, revision string) string {
	return fmt.Sprintf("%s/%s/resolve/%s/%s", m.client.opts.Endpoint, m.meta.ID, url.PathEscape(revision), escapePath(name))
}
