package source

import (
	"os"
	"path/filepath"
	"strings"
)

// Env looks up an environment variable; "" means that it is not set. Tests
// give their own.
type Env func(string) string

// OSEnv is the environment of the process.
func OSEnv() Env { return os.Getenv }

// Home returns the user's home folder, "" where there is none.
func (env Env) Home() string {
	if home := env("HOME"); home != "" {
		return home
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// Expand replaces a leading ~ and variables in a path. As in the official
// client, a variable that is not set stays as it is written.
func (env Env) Expand(name string) string {
	name = os.Expand(name, func(v string) string {
		if value := env(v); value != "" {
			return value
		}
		return "$" + v
	})
	if name == "~" || strings.HasPrefix(name, "~/") {
		return filepath.Join(env.Home(), name[1:])
	}
	return name
}

// CacheHome returns the folder for caches of all programs.
func (env Env) CacheHome() string {
	if dir := env("XDG_CACHE_HOME"); dir != "" {
		return env.Expand(dir)
	}
	return filepath.Join(env.Home(), ".cache")
}

// HFHome returns the folder of the official client: HF_HOME, else
// huggingface in the folder for caches.
func (env Env) HFHome() string {
	if dir := env("HF_HOME"); dir != "" {
		return env.Expand(dir)
	}
	return filepath.Join(env.CacheHome(), "huggingface")
}

// HubCache returns the official client's cache of repositories: HF_HUB_CACHE,
// else HUGGINGFACE_HUB_CACHE, else hub in HFHome.
func (env Env) HubCache() string {
	for _, name := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"} {
		if dir := env(name); dir != "" {
			return env.Expand(dir)
		}
	}
	return filepath.Join(env.HFHome(), "hub")
}
