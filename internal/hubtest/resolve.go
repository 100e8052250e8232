package hubtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// resolve answers for a file: small ones at once or by way of resolve-cache,
// large ones by a signed link to the file server.
func (h *Hub) resolve(w http.ResponseWriter, r *http.Request, repo *Repo, revision, name string) {
	commit, files := h.version(w, repo, revision)
	if files == nil || !h.open(w, r, repo) {
		return
	}
	f, ok := files[name]
	if !ok {
		h.refuse(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	h.describe(w, commit, f)
	switch {
	case f.LFS:
		w.Header().Set("Location", h.sign(repo.ID, commit, name))
		w.WriteHeader(http.StatusFound)
	case h.SmallHops:
		w.Header().Set("Location", "/api/resolve-cache/models/"+repo.ID+"/"+commit+"/"+url.PathEscape(name))
		w.WriteHeader(http.StatusTemporaryRedirect)
	default:
		send(w, r, f)
	}
}

// open checks the right to read the files of a gated repository.
func (h *Hub) open(w http.ResponseWriter, r *http.Request, repo *Repo) bool {
	token, _ := h.token(r)
	switch {
	case repo.Gated == "" || h.may(token, repo):
		return true
	case token == "":
		h.refuse(w, http.StatusUnauthorized, "GatedRepo", "Access to model "+repo.ID+" is restricted. You must have access to it and be authenticated to access it. Please log in.")
	default:
		h.refuse(w, http.StatusForbidden, "GatedRepo", "Access to model "+repo.ID+" is restricted and you are not in the authorized list.")
	}
	return false
}

func (h *Hub) describe(w http.ResponseWriter, commit string, f File) {
	if h.Headerless {
		return
	}
	w.Header().Set("X-Repo-Commit", commit)
	w.Header().Set("Ratelimit", `"resolve";r=2999;t=212`)
	if f.LFS {
		w.Header().Set("X-Linked-Size", strconv.FormatInt(f.size(), 10))
		w.Header().Set("X-Linked-Etag", `"`+f.sha()+`"`)
		return
	}
	w.Header().Set("Etag", `W/"`+f.sha()[:40]+`"`)
}

func (h *Hub) resolveCache(w http.ResponseWriter, r *http.Request, rest string) {
	id, after := rest, ""
	if parts := strings.SplitN(rest, "/", 4); len(parts) == 4 {
		id, after = parts[0]+"/"+parts[1], parts[2]+"/"+parts[3]
	}
	repo := h.repo(w, r, id)
	if repo == nil || !h.open(w, r, repo) {
		return
	}
	commit, name, _ := strings.Cut(after, "/")
	name, _ = url.PathUnescape(name)
	_, files := h.version(w, repo, commit)
	if files == nil {
		return
	}
	h.describe(w, commit, files[name])
	send(w, r, files[name])
}

// send sends a small file, packed where the client takes that and wants all.
func send(w http.ResponseWriter, r *http.Request, f File) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if r.Header.Get("Range") == "" && !f.LFS {
		pack(w, r, f.Data)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, &sparse{f: f})
}

const signature = "s3cr3t-signature"

// sign makes a link to the file server that expires.
func (h *Hub) sign(id, commit, name string) string {
	life := h.LinkLife
	if life == 0 {
		life = time.Minute
	}
	return fmt.Sprintf("%s/%s/%s/%s?Expires=%d&Signature=%s&Key-Pair-Id=K1", h.cdn.URL, id, commit, url.PathEscape(name),
		time.Now().Add(life).UnixMilli(), signature)
}

// Signature is what every signed link holds and no output may.
func Signature() string { return signature }

func (h *Hub) serveCDN(w http.ResponseWriter, r *http.Request) {
	expires, _ := strconv.ParseInt(r.URL.Query().Get("Expires"), 10, 64)
	if r.URL.Query().Get("Signature") != signature || time.Now().UnixMilli() > expires {
		http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
		return
	}
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 4)
	if len(parts) < 4 {
		http.NotFound(w, r)
		return
	}
	h.mu.Lock()
	repo := h.repos[parts[0]+"/"+parts[1]]
	h.mu.Unlock()
	f, ok := repo.Versions[parts[2]][parts[3]]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, &sparse{f: f})
}
