package locate

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/source"
)

// Ref is a MODEL that names a repository.
type Ref struct {
	Repo     string // org/name, or a bare legacy name
	Revision string // "" where none is named
	Path     string // folder or file in the repository; "" for its root
}

// String gives the reference as it can be typed.
func (r Ref) String() string {
	s := r.Repo
	if r.Revision != "" {
		s += "@" + r.Revision
	}
	if r.Path != "" {
		s += "//" + r.Path
	}
	return s
}

// ParseRef reads the name or address of a repository:
//
//	org/name[@revision][//path], name[@revision][//path]
//	hf://[models/]org/name[@revision][/path]
//	https://huggingface.co/org/name[/tree|blob|resolve|raw/revision[/path]]
//
// An address may also begin with endpoint, or lack its scheme.
func ParseRef(model, endpoint string) (Ref, error) {
	ref, err := parseAny(model, endpoint)
	if err != nil {
		return Ref{}, err
	}
	if err := hub.CheckID(ref.Repo); err != nil {
		return Ref{}, err
	}
	if ref.Revision != "" && !validRevision(ref.Revision) {
		return Ref{}, fmt.Errorf("%q is not a branch, tag or commit", ref.Revision)
	}
	ref.Path = strings.Trim(ref.Path, "/")
	if ref.Path != "" {
		return ref, source.CheckPath(ref.Path)
	}
	return ref, nil
}

func parseAny(model, endpoint string) (Ref, error) {
	if rest, ok := strings.CutPrefix(model, "hf://"); ok {
		return parseHF(rest)
	}
	if rest, ok := cutHub(model, endpoint); ok {
		return parseAddress(rest)
	}
	if scheme, _, ok := strings.Cut(model, "://"); ok {
		return Ref{}, fmt.Errorf("%s:// is not an address of the Hub: name a path, org/name, or an address that begins with %s", scheme, endpoint)
	}
	name, path, _ := strings.Cut(model, "//")
	repo, revision, named := strings.Cut(name, "@")
	if named && revision == "" {
		return Ref{}, fmt.Errorf("%q names no revision after the @", model)
	}
	return Ref{repo, revision, path}, nil
}

func validRevision(rev string) bool {
	return source.CheckPath(rev) == nil && !strings.ContainsAny(rev, " ?*[~^:\x7f")
}

// cutHub takes the Hub's address off an URL.
func cutHub(model, endpoint string) (path string, ok bool) {
	for _, host := range []string{endpoint, "https://huggingface.co", "https://www.huggingface.co", "https://hf.co"} {
		bare := host[strings.Index(host, "://")+len("://"):]
		for _, prefix := range []string{host, "http://" + bare, "https://" + bare, bare} {
			if rest, ok := strings.CutPrefix(model, strings.TrimSuffix(prefix, "/")+"/"); ok {
				return rest, true
			}
		}
	}
	return "", false
}

// parseHF reads what follows hf://, where a single slash separates the path.
func parseHF(rest string) (Ref, error) {
	rest, err := modelsOnly(rest)
	if err != nil {
		return Ref{}, err
	}
	// The revision, which may hold slashes, begins at the first @ of the name.
	if name, after, ok := strings.Cut(rest, "@"); ok && strings.Count(name, "/") <= 1 {
		revision, path, err := cutRevision(after)
		return Ref{name, revision, path}, err
	}
	name, path := cutName(rest)
	return Ref{Repo: name, Path: path}, nil
}

// parseAddress reads what follows the host in an address of the Hub.
func parseAddress(rest string) (Ref, error) {
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	rest, err := modelsOnly(strings.Trim(rest, "/"))
	if err != nil {
		return Ref{}, err
	}
	name, page, found := cutPage(rest)
	if !found {
		return Ref{Repo: rest}, nil
	}
	verb, after, _ := strings.Cut(page, "/")
	if after == "" && verb != "tree" {
		return Ref{}, fmt.Errorf("the address names no revision after /%s/", verb)
	}
	revision, path, err := cutRevision(after)
	if err != nil {
		return Ref{}, err
	}
	if path, err = url.PathUnescape(path); err != nil {
		return Ref{}, fmt.Errorf("the address is not well-formed: %w", err)
	}
	return Ref{name, revision, path}, nil
}

// cutPage splits org/name from tree/…; the word tells a legacy name, which has
// no org before it, from org/name.
func cutPage(rest string) (name, page string, found bool) {
	parts := strings.SplitN(rest, "/", 3)
	for i := 1; i < len(parts); i++ {
		verb, _, _ := strings.Cut(parts[i], "/")
		switch verb {
		case "tree", "blob", "resolve", "raw", "commit":
			return strings.Join(parts[:i], "/"), strings.Join(parts[i:], "/"), true
		}
	}
	return "", "", false
}

func modelsOnly(rest string) (string, error) {
	kind, after, _ := strings.Cut(rest, "/")
	switch kind {
	case "models":
		return after, nil
	case "datasets", "spaces", "buckets", "collections", "papers", "docs", "api":
		return "", fmt.Errorf("the address leads to %s, not to a model", kind)
	}
	return rest, nil
}

// cutName splits org/name from the path that follows.
func cutName(rest string) (name, path string) {
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) < 3 {
		return rest, ""
	}
	return parts[0] + "/" + parts[1], parts[2]
}

// cutRevision splits a revision from the path that follows. A revision with
// slashes is written percent-encoded, except for refs/pr/N and its like.
func cutRevision(rest string) (revision, path string, err error) {
	n := 1
	if strings.HasPrefix(rest, "refs/") {
		n = 3
	}
	parts := strings.SplitN(rest, "/", n+1)
	if len(parts) > n {
		path = parts[n]
		parts = parts[:n]
	}
	revision, err = url.PathUnescape(strings.Join(parts, "/"))
	if err != nil {
		return "", "", fmt.Errorf("the revision is not well-formed: %w", err)
	}
	return revision, path, nil
}
