package hubtest

import (
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// serve counts, waits, and fails if told to, before next answers.
func (h *Hub) serve(host Host, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.fence()
		defer h.fence()
		fault := h.note(host, r)
		select {
		case <-time.After(h.Latency):
		case <-r.Context().Done():
			return
		}
		w = &counted{ResponseWriter: w, hub: h}
		if fault != nil {
			fault.Do(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fence orders an answer against what a script sets: scripts run commands one
// after the other, which the processes between them do not show.
func (h *Hub) fence() {
	h.order.Lock()
	defer h.order.Unlock()
	h.answers++
}

func (h *Hub) note(host Host, r *http.Request) *Fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, Request{host, r.RequestURI, r.Header.Get("Range"), r.Header.Get("Authorization")})
	if host == OnCDN && r.Header.Get("Authorization")+r.Header.Get("Referer")+r.Header.Get("Cookie") != "" {
		h.leaks = append(h.leaks, r.RequestURI)
	}
	for _, f := range h.faults {
		if f.hits(host, r) {
			return f
		}
	}
	return nil
}

// counted counts the bytes of bodies.
type counted struct {
	http.ResponseWriter
	hub *Hub
}

func (c *counted) Write(p []byte) (int, error) {
	c.hub.mu.Lock() // before the client can have it all
	c.hub.bytes += int64(len(p))
	c.hub.mu.Unlock()
	return c.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// refuse answers with an error as the Hub words it.
func (h *Hub) refuse(w http.ResponseWriter, status int, code, message string) {
	if code != "" && !h.NoCodes {
		w.Header().Set("X-Error-Code", code)
	}
	if !h.NoCodes {
		w.Header().Set("X-Error-Message", message)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message})
}

// answer sends JSON, packed where the client takes that.
func (h *Hub) answer(w http.ResponseWriter, r *http.Request, value any) {
	body, _ := json.Marshal(value)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Ratelimit", `"api";r=499;t=212`)
	w.Header().Set("Ratelimit-Policy", `"fixed window";"api";q=500;w=300`)
	pack(w, r, body)
}

func pack(w http.ResponseWriter, r *http.Request, body []byte) {
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || len(body) < 500 {
		_, _ = w.Write(body)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	_, _ = z.Write(body)
	_ = z.Close()
}

// repo finds the repository of a request and checks the right to see it. It
// answers itself where there is none.
func (h *Hub) repo(w http.ResponseWriter, r *http.Request, id string) *Repo {
	h.mu.Lock()
	found := h.repos[id]
	canonical := ""
	for _, other := range h.repos {
		for _, alias := range other.Aliases {
			if alias == id {
				canonical = other.ID
			}
		}
	}
	h.mu.Unlock()
	token, known := h.token(r)
	switch {
	case token != "" && !known:
		h.refuse(w, http.StatusUnauthorized, "", "Invalid credentials in Authorization header")
	case found == nil && canonical != "":
		w.Header().Set("Location", strings.Replace(r.RequestURI, "/"+id+"/", "/"+canonical+"/", 1))
		w.WriteHeader(http.StatusTemporaryRedirect)
	case found == nil && token == "", found != nil && found.Private && token == "":
		h.refuse(w, http.StatusUnauthorized, "RepoNotFound", "Invalid username or password.")
	case found == nil, found.Private && !h.may(token, found):
		h.refuse(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
	case found.Disabled:
		h.refuse(w, http.StatusForbidden, "", "Access to this resource is disabled.")
	default:
		return found
	}
	return nil
}

func (h *Hub) token(r *http.Request) (token string, known bool) {
	token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	_, known = h.Tokens[token]
	return token, known
}

func (h *Hub) may(token string, r *Repo) bool {
	for _, id := range h.Tokens[token].Repos {
		if id == r.ID {
			return true
		}
	}
	return false
}

// version finds the files of a revision.
func (h *Hub) version(w http.ResponseWriter, r *Repo, revision string) (commit string, files map[string]File) {
	h.mu.Lock()
	switch {
	case revision == "main":
		commit = r.Head
	case r.Refs[revision] != "":
		commit = r.Refs[revision]
	default:
		commit = revision
	}
	files = r.Versions[commit]
	h.mu.Unlock()
	if files == nil {
		h.refuse(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+revision)
	}
	return commit, files
}
