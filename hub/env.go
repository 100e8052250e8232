package hub

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"github.com/hf-inspect/hf-inspect/source"
)

// Endpoint returns the Hub's address without a trailing slash: the explicit
// one, else HF_ENDPOINT, else DefaultEndpoint.
func Endpoint(explicit string, env source.Env) (string, error) {
	address := explicit
	if address == "" {
		address = strings.TrimSpace(env("HF_ENDPOINT"))
	}
	if address == "" {
		return DefaultEndpoint, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the Hub's address (HF_ENDPOINT) is not of the form %s", DefaultEndpoint)
	}
	u.RawQuery, u.Fragment = "", ""
	return strings.TrimRight(u.String(), "/"), nil
}

// EnvOffline reports whether the environment forbids the network.
func EnvOffline(env source.Env) bool {
	return isOn(env("HF_HUB_OFFLINE")) || isOn(env("TRANSFORMERS_OFFLINE"))
}

func isOn(value string) bool {
	switch strings.ToUpper(value) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

// Token returns the token to use, "" for none: the explicit one, else the one
// in file, else, unless HF_HUB_DISABLE_IMPLICIT_TOKEN forbids it, HF_TOKEN,
// HUGGING_FACE_HUB_TOKEN, or the file that HF_TOKEN_PATH names or HF_HOME
// holds.
func Token(explicit, file string, env source.Env) (string, error) {
	if explicit != "" {
		return checkToken(explicit, "the token given")
	}
	if file != "" {
		text, err := readToken(env.Expand(file))
		if err != nil {
			return "", fmt.Errorf("token file: %w", err)
		}
		return checkToken(text, "the token in "+file)
	}
	if isOn(env("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
		return "", nil
	}
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"} {
		if token, err := checkToken(env(name), name); token != "" || err != nil {
			return token, err
		}
	}
	return savedToken(env)
}

func savedToken(env source.Env) (string, error) {
	file := filepath.Join(env.HFHome(), "token")
	if other := env("HF_TOKEN_PATH"); other != "" {
		file = env.Expand(other)
	}
	text, err := readToken(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	return checkToken(text, "the token in "+file)
}

// readToken bounds what it reads: the path may lead anywhere.
func readToken(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return string(text), err
}

// checkToken trims a token and refuses what cannot be one, without showing it.
func checkToken(token, from string) (string, error) {
	token = strings.TrimSpace(token)
	for _, r := range token {
		if r <= ' ' || r > '~' {
			return "", fmt.Errorf("%s is not a token: it holds spaces, line breaks or special characters", from)
		}
	}
	return token, nil
}

// EnvTimeouts fills what t leaves open from HF_HUB_ETAG_TIMEOUT (to reach the
// Hub) and HF_HUB_DOWNLOAD_TIMEOUT (without a byte), in whole seconds.
func EnvTimeouts(t Timeouts, env source.Env) Timeouts {
	or(&t.Connect, seconds(env("HF_HUB_ETAG_TIMEOUT")))
	or(&t.Stall, seconds(env("HF_HUB_DOWNLOAD_TIMEOUT")))
	return t
}

func seconds(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || n > 24*60*60 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// CacheDir returns our own cache folder: the explicit one, else
// HF_INSPECT_CACHE, else hf-inspect in the XDG folder for caches.
func CacheDir(explicit string, env source.Env) string {
	switch {
	case explicit != "":
		return env.Expand(explicit)
	case env("HF_INSPECT_CACHE") != "":
		return env.Expand(env("HF_INSPECT_CACHE"))
	case env("XDG_CACHE_HOME") != "":
		return filepath.Join(env.CacheHome(), "hf-inspect")
	}
	return filepath.Join(xdg.CacheHome, "hf-inspect")
}
