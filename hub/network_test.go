package hub_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
)

// What keeps a connection from being made is said at once, not tried again.
func TestNoConnection(t *testing.T) {
	var asked atomic.Int64
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, "no", http.StatusForbidden)
	})
	proxy := httptest.NewServer(refuse)
	defer proxy.Close()
	proxyURL, _ := url.Parse(proxy.URL)
	strange := httptest.NewUnstartedServer(refuse)
	strange.Config.ErrorLog = quiet()
	strange.StartTLS()
	defer strange.Close()
	plain := httptest.NewServer(refuse)
	defer plain.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()

	for name, tt := range map[string]struct {
		endpoint string
		base     http.RoundTripper
		asked    int64
		says     string
	}{
		"refused":             {endpoint: "http://" + closed.Addr().String(), says: "connection refused"},
		"proxy says no":       {endpoint: "https://hub.test", base: &http.Transport{Proxy: http.ProxyURL(proxyURL)}, asked: 1, says: "Forbidden"},
		"unknown certificate": {endpoint: strange.URL, says: "certificate"},
		"no TLS":              {endpoint: strings.Replace(plain.URL, "http:", "https:", 1), says: "tls: "},
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			waited := false
			c := client(t, hub.Options{Endpoint: tt.endpoint, Base: tt.base, Token: reader, OnWait: func(hub.Wait) { waited = true }})
			start := time.Now()
			_, err := c.Model(t.Context(), "org/name", "")
			e := wantKind(t, err, hub.NoConnection)
			if !hub.Unreachable(err) || !strings.Contains(e.Error(), tt.says) {
				t.Errorf("error %v", err)
			}
			if waited || asked.Load() > tt.asked || time.Since(start) > time.Second {
				t.Errorf("asked %d times in %s", asked.Load(), time.Since(start))
			}
		})
	}
}

// Over TLS the requests of a model share one HTTP/2 connection.
func TestHTTP2(t *testing.T) {
	h := hubtest.Start(t)
	h.Add(hubtest.Repo{ID: "org/big", Files: hubtest.Sharded(12, 10)})
	front, _ := url.Parse(h.Endpoint())
	var connections, old atomic.Int64
	forward := &httpForward{to: front, old: &old}
	server := httptest.NewUnstartedServer(forward)
	server.EnableHTTP2 = true
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	opts := quick(h)
	opts.Endpoint, opts.Base, opts.Headers = server.URL, server.Client().Transport, hub.HeadersRanges
	m := model(t, opts, "org/big", "")
	// The file server is on plain HTTP, which an https Hub may not lead to.
	if _, err := whole(t.Context(), m, "config.json"); err != nil {
		t.Fatal(err)
	}
	_, err := m.ReadRange(t.Context(), "model-00001-of-00012.safetensors", 0, 8)
	wantKind(t, err, hub.BadRedirect)
	if connections.Load() != 1 || old.Load() != 0 {
		t.Errorf("%d connections, %d requests not by HTTP/2", connections.Load(), old.Load())
	}
}
