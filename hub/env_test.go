package hub_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hf-inspect/hf-inspect/hub"
)

func environment(pairs ...string) func(string) string {
	env := map[string]string{}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		env[key] = value
	}
	return func(key string) string { return env[key] }
}

func TestToken(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("hf/token", "  saved\n")
	write("bad", "two words")
	mine := write("mine", "filed\n")
	base := "HF_HOME=" + filepath.Join(home, "hf")
	for _, tt := range []struct {
		explicit, file string
		env            []string
		want           string
		fails          bool
	}{
		{want: "saved"},
		{env: []string{"HF_TOKEN=one", "HUGGING_FACE_HUB_TOKEN=two"}, want: "one"},
		{env: []string{"HF_TOKEN= \n", "HUGGING_FACE_HUB_TOKEN=two\r\n"}, want: "two"},
		{env: []string{"HF_TOKEN_PATH=~/mine", "HOME=" + home}, want: "filed"},
		{env: []string{"HF_TOKEN_PATH=$WHERE/mine", "WHERE=" + home}, want: "filed"},
		{env: []string{"HF_TOKEN_PATH=/none"}, want: ""},
		{env: []string{"HF_TOKEN=one", "HF_HUB_DISABLE_IMPLICIT_TOKEN=true"}, want: ""},
		{env: []string{"HF_TOKEN=one"}, file: mine, want: "filed"},
		{env: []string{"HF_HUB_DISABLE_IMPLICIT_TOKEN=1"}, file: mine, want: "filed"},
		{env: []string{"HF_TOKEN=one"}, file: mine, explicit: "given", want: "given"},
		{file: filepath.Join(home, "none"), fails: true},
		{file: filepath.Join(home, "bad"), fails: true},
		{explicit: "s3cret\nX-Evil: 1", fails: true},
		{env: []string{"HF_TOKEN=a b"}, fails: true},
	} {
		got, err := hub.Token(tt.explicit, tt.file, environment(append(tt.env, base)...))
		if got != tt.want || (err != nil) != tt.fails {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "two words")) {
			t.Errorf("the token is in %q", err)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for _, tt := range []struct{ explicit, env, want string }{
		{"", "", hub.DefaultEndpoint},
		{"", "https://hf-mirror.com/", "https://hf-mirror.com"},
		{"http://localhost:8080", "https://hf-mirror.com/", "http://localhost:8080"},
		{"", "https://a.test/hub/?x=1#y", "https://a.test/hub"},
		{"", "hf-mirror.com", ""}, {"", "ftp://a.test", ""}, {"", "https://", ""}, {"", "ht tp://a", ""},
	} {
		got, err := hub.Endpoint(tt.explicit, environment("HF_ENDPOINT="+tt.env))
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for value, want := range map[string]bool{"": false, "0": false, "no": false, "1": true, "on": true, "Yes": true, "TRUE": true} {
		for _, name := range []string{"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"} {
			if got := hub.EnvOffline(environment(name + "=" + value)); got != want {
				t.Errorf("%s=%s: offline %v", name, value, got)
			}
		}
	}
	env := environment("HF_HUB_ETAG_TIMEOUT=7", "HF_HUB_DOWNLOAD_TIMEOUT=x")
	got := hub.EnvTimeouts(hub.Timeouts{Total: time.Hour}, env)
	if want := (hub.Timeouts{Connect: 7 * time.Second, Total: time.Hour}); got != want {
		t.Errorf("time-outs %+v, want %+v", got, want)
	}
	for _, tt := range []struct{ explicit, env, want string }{
		{"/a", "HF_INSPECT_CACHE=/b", "/a"}, {"", "HF_INSPECT_CACHE=/b", "/b"}, {"", "XDG_CACHE_HOME=/c", "/c/hf-inspect"},
	} {
		if got := hub.CacheDir(tt.explicit, environment(tt.env)); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

func TestCheckID(t *testing.T) {
	for _, id := range []string{"gpt2", "openai-community/gpt2", "a/b", "A.b_c-d/E.f", strings.Repeat("a", 96)} {
		if err := hub.CheckID(id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, id := range []string{
		"", "/", "a/", "/b", "a/b/c", "a--b", "a/b..c", "-a", "a-", ".a/b", "a/b.", "a/b.git", "a b", "a/b@c", "ä", "a/b?c",
		strings.Repeat("a", 97),
	} {
		if err := hub.CheckID(id); err == nil {
			t.Errorf("%q is taken for a repository", id)
		}
	}
}
