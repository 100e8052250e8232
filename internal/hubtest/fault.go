package hubtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
)

// Fault is one way to fail. It takes the place of the answers to requests that
// it matches.
type Fault struct {
	Host  Host   // "" for both
	Path  string // part of the address; "" for all
	After int    // matching requests that go well before
	Times int    // requests that fail; 0 for all
	Do    func(w http.ResponseWriter, r *http.Request, next http.Handler)

	seen int
}

// Fail makes the Hub fail from now on. The first fault that matches decides.
func (h *Hub) Fail(f Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = append(h.faults, &f)
}

func (f *Fault) hits(host Host, r *http.Request) bool {
	if f.Host != "" && f.Host != host || !strings.Contains(r.RequestURI, f.Path) {
		return false
	}
	f.seen++
	return f.seen > f.After && (f.Times == 0 || f.seen <= f.After+f.Times)
}

type doFunc = func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Status answers with a status and headers, given as key and value in turn.
func Status(status int, headers ...string) doFunc {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
	}
}

// Reset breaks the connection off without an answer.
func Reset() doFunc {
	return func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
}

// Stall sends n bytes of the answer's body, or with n < 0 nothing at all, and
// then nothing more until the client gives up.
func Stall(n int) doFunc {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if n >= 0 {
			begin(w, r, next, n)
		}
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

// Truncate breaks the connection off after n bytes of the body.
func Truncate(n int) doFunc {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		begin(w, r, next, n)
		panic(http.ErrAbortHandler)
	}
}

// Short ends the answer cleanly after n bytes, with a Content-Length to match.
func Short(n int) doFunc {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := record(r, next)
		body := rec.Body.Bytes()[:min(n, rec.Body.Len())]
		copyHeader(w, rec)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(rec.Code)
		_, _ = w.Write(body)
	}
}

// IgnoreRange answers with the whole file, whatever is asked for.
func IgnoreRange() doFunc {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r = r.Clone(r.Context())
		r.Header.Del("Range")
		next.ServeHTTP(w, r)
	}
}

// Headers changes headers of the answer, given as key and value in turn; an
// empty value removes one.
func Headers(headers ...string) doFunc {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := record(r, next)
		copyHeader(w, rec)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Del(headers[i])
			if headers[i+1] != "" {
				w.Header().Set(headers[i], headers[i+1])
			}
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	}
}

// Redirect sends the client elsewhere.
func Redirect(location string) doFunc {
	return Status(http.StatusFound, "Location", location)
}

// Circle sends the client to where it is, by way of one other address.
func Circle() doFunc {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		to := strings.TrimSuffix(r.RequestURI, "&again")
		if to == r.RequestURI {
			to += "&again"
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}
}

// Maze sends the client ever further.
func Maze() doFunc {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Location", r.RequestURI+"&more")
		w.WriteHeader(http.StatusFound)
	}
}

// Portal answers with a web page and 200, as networks do that want a log-in.
func Portal() doFunc {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!DOCTYPE html><html><body>Welcome to the hotel. Please log in.</body></html>")
	}
}

func record(r *http.Request, next http.Handler) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	return rec
}

func copyHeader(w http.ResponseWriter, rec *httptest.ResponseRecorder) {
	for key, values := range rec.Header() {
		w.Header()[key] = values
	}
}

// begin sends the start of an answer whose Content-Length promises all.
func begin(w http.ResponseWriter, r *http.Request, next http.Handler, n int) {
	rec := record(r, next)
	copyHeader(w, rec)
	w.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()))
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes()[:min(n, rec.Body.Len())])
	_ = http.NewResponseController(w).Flush()
}
