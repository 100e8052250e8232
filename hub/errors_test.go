package hub_test

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
)

const reader = "hf_reader_token"

// answering is a Hub with a repository of each kind that it can refuse.
func answering(t *testing.T) *hubtest.Hub {
	h := hubtest.Start(t)
	h.Tokens[reader] = hubtest.Grant{Repos: []string{"org/private", "org/granted"}}
	files := map[string]hubtest.File{"config.json": hubtest.Text("{}")}
	h.Add(hubtest.Repo{ID: "org/open", Files: files})
	h.Add(hubtest.Repo{ID: "org/private", Private: true, Files: files})
	h.Add(hubtest.Repo{ID: "org/gated", Gated: "auto", Files: files})
	h.Add(hubtest.Repo{ID: "org/granted", Gated: "manual", Files: files})
	h.Add(hubtest.Repo{ID: "org/disabled", Disabled: true, Files: files})
	return h
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name, repo, revision, file, token string

		kind hub.ErrorKind // "" where it goes well
		says []string
	}{
		{name: "open", repo: "org/open"},
		{name: "open with token", repo: "org/open", token: reader},
		{name: "missing", repo: "org/none", kind: hub.RepoNotFound, says: []string{"org/none is missing on the Hub, or private", "HF_TOKEN"}},
		{name: "missing with token", repo: "org/none", token: reader, kind: hub.RepoNotFound, says: []string{"or private and closed to this token"}},
		{name: "private", repo: "org/private", kind: hub.RepoNotFound, says: []string{"or private", "HF_TOKEN"}},
		{name: "private with token", repo: "org/private", token: reader},
		{name: "gated", repo: "org/gated", kind: hub.Gated, says: []string{"is gated: accept its terms at ", "/org/gated", "HF_TOKEN"}},
		{name: "gated with token", repo: "org/gated", token: reader, kind: hub.Gated, says: []string{"this token's account has no access"}},
		{name: "granted", repo: "org/granted", token: reader},
		{name: "disabled", repo: "org/disabled", kind: hub.Disabled, says: []string{"org/disabled is disabled"}},
		{name: "bad token", repo: "org/open", token: "hf_stale", kind: hub.BadToken, says: []string{"does not accept the token", "/settings/tokens"}},
		{name: "revision", repo: "org/open", revision: "v9", kind: hub.RevisionNotFound, says: []string{"org/open has no revision v9"}},
		{name: "file", repo: "org/open", file: "x.json", kind: hub.EntryNotFound, says: []string{"org/open has no file x.json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := answering(t)
			opts := quick(h)
			opts.Token = tt.token
			file := tt.file
			if file == "" {
				file = "config.json"
			}
			m, err := client(t, opts).Model(t.Context(), tt.repo, tt.revision)
			if err == nil {
				_, err = whole(t.Context(), m, file)
			}
			if tt.kind == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			e := wantKind(t, err, tt.kind)
			for _, text := range tt.says {
				if !strings.Contains(e.Error(), text) {
					t.Errorf("error %q does not say %q", e, text)
				}
			}
			if hub.Unreachable(err) {
				t.Error("an answer of the Hub counts as none")
			}
			if got := errors.Is(err, fs.ErrNotExist); got != (tt.kind == hub.EntryNotFound) {
				t.Errorf("is fs.ErrNotExist: %v", got)
			}
			if tt.token != "" && strings.Contains(e.Error(), tt.token) {
				t.Errorf("the token is in %q", e)
			}
		})
	}
}

// Without X-Error-Code the status and the words must do.
func TestRefusalsWithoutCodes(t *testing.T) {
	h := answering(t)
	h.NoCodes = true
	_, err := client(t, quick(h)).Model(t.Context(), "org/none", "")
	wantKind(t, err, hub.RepoNotFound)
	_, err = client(t, quick(h)).Model(t.Context(), "org/disabled", "")
	wantKind(t, err, hub.Disabled)
	opts := quick(h)
	opts.Token = "hf_stale"
	_, err = client(t, opts).Model(t.Context(), "org/open", "")
	wantKind(t, err, hub.BadToken)
}

func TestStatuses(t *testing.T) {
	for status, kind := range map[int]hub.ErrorKind{
		http.StatusBadRequest: hub.BadRequest, http.StatusForbidden: hub.Forbidden, http.StatusTeapot: hub.Inconsistency,
		http.StatusInternalServerError: hub.ServerFailed, http.StatusNotImplemented: hub.ServerFailed,
		http.StatusTooManyRequests: hub.RateLimited, http.StatusNotFound: hub.Inconsistency,
	} {
		h := answering(t)
		h.Fail(hubtest.Fault{Do: hubtest.Status(status, "X-Error-Message", "see https://x.test/a?Signature=s3cr3t-signature&b=1 "+strings.Repeat("x", 900))})
		_, err := client(t, quick(h)).Model(t.Context(), "org/open", "")
		e := wantKind(t, err, kind)
		if e.Status != status {
			t.Errorf("status %d, want %d", e.Status, status)
		}
		if text := e.Error(); strings.Contains(text, hubtest.Signature()) || len(text) > 600 {
			t.Errorf("%d: error %q", status, text)
		}
	}
}
