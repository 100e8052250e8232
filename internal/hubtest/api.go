package hubtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// serveHub tells the addresses of the Hub apart. A legacy name has no org, so
// the word behind the name decides where the name ends.
func (h *Hub) serveHub(w http.ResponseWriter, r *http.Request) {
	p := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	if rest, ok := strings.CutPrefix(p, "api/resolve-cache/models/"); ok {
		h.resolveCache(w, r, rest)
		return
	}
	api, isAPI := strings.CutPrefix(p, "api/models/")
	if isAPI {
		p = api
	}
	id, verb, rest := splitID(p)
	repo := h.repo(w, r, id)
	if repo == nil {
		return
	}
	first, after, _ := strings.Cut(rest, "/")
	revision, _ := url.PathUnescape(first)
	name, _ := url.PathUnescape(after)
	switch {
	case isAPI && verb == "":
		h.model(w, r, repo, "main")
	case isAPI && verb == "revision":
		h.model(w, r, repo, revision)
	case isAPI && verb == "tree":
		h.tree(w, r, repo, revision)
	case isAPI && verb == "safetensors-metadata":
		index, _ := url.PathUnescape(rest)
		h.headers(w, r, repo, index)
	case !isAPI && verb == "resolve":
		h.resolve(w, r, repo, revision, name)
	default:
		h.refuse(w, http.StatusNotFound, "", "Sorry, we can't find the page you are looking for.")
	}
}

func splitID(p string) (id, verb, rest string) {
	parts := strings.SplitN(p, "/", 4)
	for i := 1; i < len(parts) && i < 3; i++ {
		switch parts[i] {
		case "revision", "tree", "safetensors-metadata", "resolve":
			return strings.Join(parts[:i], "/"), parts[i], strings.Join(parts[i+1:], "/")
		}
	}
	return p, "", ""
}

func (h *Hub) model(w http.ResponseWriter, r *http.Request, repo *Repo, revision string) {
	commit, files := h.version(w, repo, revision)
	if files == nil {
		return
	}
	if r.URL.Query().Get("expand") == "sha" {
		h.answer(w, r, map[string]any{"_id": "0", "id": repo.ID, "sha": commit})
		return
	}
	siblings := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		s := map[string]any{"rfilename": name}
		if f := files[name]; r.URL.Query().Get("blobs") == "true" && !h.NoSizes {
			s["size"] = f.size()
			if f.LFS {
				s["lfs"] = map[string]any{"sha256": f.sha(), "size": f.size(), "pointerSize": 135}
			}
		}
		siblings = append(siblings, s)
	}
	answer := map[string]any{
		"_id": "0", "id": repo.ID, "modelId": repo.ID, "sha": commit, "private": repo.Private,
		"gated": false, "disabled": false, "library_name": "transformers", "siblings": siblings,
		"tags": []string{"transformers", "safetensors"},
	}
	if repo.Gated != "" {
		answer["gated"] = repo.Gated
	}
	if repo.Parameters != nil {
		total := int64(0)
		for _, n := range repo.Parameters {
			total += n
		}
		answer["safetensors"] = map[string]any{"parameters": repo.Parameters, "total": total}
	}
	h.answer(w, r, answer)
}

func (h *Hub) tree(w http.ResponseWriter, r *http.Request, repo *Repo, revision string) {
	commit, files := h.version(w, repo, revision)
	if files == nil {
		return
	}
	page := h.PageSize
	if page == 0 {
		page = 1000
	}
	names := slices.Sorted(maps.Keys(files))
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	to := min(from+page, len(names))
	items := []map[string]any{}
	for _, name := range names[min(from, to):to] {
		f := files[name]
		item := map[string]any{"type": "file", "path": name, "size": f.size(), "oid": Commit(name)}
		if f.LFS {
			item["lfs"] = map[string]any{"oid": f.sha(), "size": f.size(), "pointerSize": 135}
			item["xetHash"] = f.sha()
		}
		items = append(items, item)
	}
	if to < len(names) {
		w.Header().Set("Link", fmt.Sprintf(`<%s/api/models/%s/tree/%s?recursive=true&cursor=%d>; rel="next"`, h.Endpoint(), repo.ID, commit, to))
	}
	h.answer(w, r, items)
}

// headers answers safetensors-metadata: the head of main, whatever is asked.
func (h *Hub) headers(w http.ResponseWriter, r *http.Request, repo *Repo, index string) {
	_, files := h.version(w, repo, "main")
	if files == nil || !h.open(w, r, repo) {
		return
	}
	data := files[index].Data
	if h.NoHeaders || data == nil {
		h.refuse(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	// Written by hand, since encoding/json takes its time over 163 headers.
	body := []byte(`{"index":{"metadata":` + gjson.GetBytes(data, "metadata").Raw + `},"headers":{`)
	comma := ""
	for _, name := range slices.Sorted(maps.Keys(files)) {
		shard := path.Base(name)
		if path.Dir(name) == path.Dir(index) && strings.HasSuffix(shard, ".safetensors") && strings.Contains(shard, "-of-") {
			data := files[name].Data
			n := binary.LittleEndian.Uint64(data)
			body = fmt.Appendf(body, "%s%q:%s", comma, shard, bytes.TrimRight(data[8:8+n], " "))
			comma = ","
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	pack(w, r, append(body, "}}"...))
}
