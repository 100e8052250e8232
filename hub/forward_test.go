package hub_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// httpForward stands in front of a fake Hub.
type httpForward struct {
	to  *url.URL
	old *atomic.Int64 // requests of HTTP/1
}

func (f *httpForward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor < 2 {
		f.old.Add(1)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(f.to) }}
	proxy.ServeHTTP(w, r)
}
