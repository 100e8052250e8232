package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
	"github.com/hf-inspect/hf-inspect/locate"
)

// shortPauses lets a test wait no longer than it must. TEST_STALL bounds the
// time without a byte more tightly than a user can.
func shortPauses(opts *locate.Options) {
	opts.Retry = hub.Retry{Base: time.Millisecond, Max: 4 * time.Millisecond}
	if stall, err := time.ParseDuration(os.Getenv("TEST_STALL")); err == nil {
		opts.Timeouts.Stall = stall
	}
}

// hubKey is where a script's fake Hub is among its values.
type hubKey struct{}

// scriptHub is the fake Hub of one script, if it has one.
type scriptHub struct{ *hubtest.Hub }

// fakeHub sets up the script's fake Hub, or asserts what it was asked for:
//
//	hub asked HUB CDN       so many requests to each host since the last time
//	hub down                connections are refused
//	hub silent              packets vanish: a connection never comes about
//	hub proxy               it can be reached by HTTP_PROXY alone
//	hub up                  all is well again
//
// and what hubtest.Hub.Script knows; after repo, COMMIT is the repository's. The first call starts it and points the
// environment of the script there.
func fakeHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: hub COMMAND ARG...")
	}
	h := startHub(ts)
	switch args[0] {
	case "asked":
		asked(ts, h, strings.Join(args[1:], " "))
	case "up":
		ts.Setenv("HF_ENDPOINT", h.Endpoint())
		ts.Setenv("HTTP_PROXY", "")
	case "down":
		ts.Setenv("HF_ENDPOINT", "http://127.0.0.1:1")
	case "silent":
		ts.Setenv("HF_ENDPOINT", "https://"+silence(ts))
	case "proxy":
		ts.Setenv("HF_ENDPOINT", "http://hub.test")
		ts.Setenv("HTTP_PROXY", h.Endpoint())
		ts.Setenv("NO_PROXY", "")
	default:
		_, err := h.Script(ts.Getenv("WORK"), args)
		ts.Check(err)
		if args[0] == "repo" {
			ts.Setenv("COMMIT", hubtest.Commit(args[1]))
		}
	}
}

func startHub(ts *testscript.TestScript) *hubtest.Hub {
	box := ts.Value(hubKey{}).(*scriptHub)
	if box.Hub == nil {
		box.Hub = hubtest.New()
		ts.Defer(box.Close)
		for _, pair := range box.Env(ts.Getenv("WORK")) {
			key, value, _ := strings.Cut(pair, "=")
			ts.Setenv(key, value)
		}
		ts.Setenv("CDN", box.CDN())
	}
	return box.Hub
}

// asked holds the requests since the last call against "HUB CDN".
func asked(ts *testscript.TestScript, h *hubtest.Hub, want string) {
	onHub, onCDN, _ := h.Count()
	if got := fmt.Sprint(onHub, onCDN); got != want {
		var list []string
		for _, r := range h.Requests() {
			list = append(list, fmt.Sprintf("%s %s %s", r.Host, r.Path, r.Range))
		}
		ts.Fatalf("requests to the Hub and to the file server: %s, want %s\n%s", got, want, strings.Join(list, "\n"))
	}
	if leaks := h.Leaks(); len(leaks) > 0 {
		ts.Fatalf("the file server was told too much: %v", leaks)
	}
	h.Reset()
}

// silence listens where nobody answers: no TLS connection comes about, as when
// a firewall drops packets.
func silence(ts *testscript.TestScript) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	return l.Addr().String()
}

// within runs hf-inspect, which must go well, and bounds the time that it takes:
// within DURATION ARG...
func within(ts *testscript.TestScript, neg bool, args []string) {
	bound, err := time.ParseDuration(args[0])
	ts.Check(err)
	var took time.Duration
	for range 3 { // the machine may be busy
		began := time.Now()
		ts.Check(ts.Exec("hf-inspect", args[1:]...))
		if took = time.Since(began); took <= bound {
			return
		}
	}
	ts.Fatalf("took %s, more than %s", took, bound)
}

// interrupted runs hf-inspect, interrupts it once it has asked the Hub for
// something, and asserts that it ends at once: interrupted ARG...
func interrupted(ts *testscript.TestScript, neg bool, args []string) {
	h := startHub(ts)
	h.Reset()
	var stderr bytes.Buffer
	cmd := exec.Command("hf-inspect", args...) // testscript puts it in PATH
	cmd.Env = append(os.Environ(), h.Env(ts.Getenv("WORK"))...)
	cmd.Dir, cmd.Stderr = ts.Getenv("WORK"), &stderr
	ts.Check(cmd.Start())
	for len(h.Requests()) == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	began := time.Now()
	ts.Check(cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitCanceled || stderr.String() != "hf-inspect: interrupted\n" {
		ts.Fatalf("exit code %d, standard error %q", code, stderr.String())
	}
	if took := time.Since(began); took > 3*time.Second {
		ts.Fatalf("ended only after %s", took)
	}
}
