package source

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OpenCache returns the snapshot of a repository at a revision ("" is main)
// in the official client's cache, which may hold only some of its files. A
// repository or revision that is not there gives an error that wraps
// fs.ErrNotExist. A nil env is the environment of the process.
func OpenCache(repo, revision string, env Env) (Source, error) {
	if env == nil {
		env = OSEnv()
	}
	if revision == "" {
		revision = "main"
	}
	home := filepath.Join(env.HubCache(), "models--"+strings.ReplaceAll(repo, "/", "--"))
	if err := CheckPath(repo); err != nil {
		return nil, err
	}
	if err := wantFolder(home); err != nil {
		return nil, NotExist(fmt.Sprintf("%s is not in the cache (%s)", repo, env.HubCache()))
	}
	return openSnapshot(home, repo, revision)
}

// OpenCacheFolder returns a snapshot out of one repository's folder in a cache
// (models--org--name) that was named by its path; ok is false where the folder
// is not of that kind.
func OpenCacheFolder(folder, revision string) (src Source, ok bool, err error) {
	name, ok := strings.CutPrefix(filepath.Base(folder), "models--")
	if !ok || wantFolder(filepath.Join(folder, "snapshots")) != nil {
		return nil, false, nil
	}
	if revision == "" {
		revision = "main"
	}
	src, err = openSnapshot(folder, strings.ReplaceAll(name, "--", "/"), revision)
	return src, true, err
}

func openSnapshot(home, repo, revision string) (Source, error) {
	commit, err := cachedCommit(home, revision)
	if err != nil {
		return nil, fmt.Errorf("%s is in the cache, but %w", repo, err)
	}
	root := filepath.Join(home, "snapshots", commit)
	if wantFolder(root) != nil {
		return nil, fmt.Errorf("%s is in the cache, but %w", repo, noRevision(home, revision))
	}
	return &disk{
		root:   root,
		info:   Info{Kind: Cache, Location: repo, Revision: commit},
		depth:  maxDepth,
		absent: absentFrom(home, repo, commit),
	}, nil
}

// IsCommit reports whether a revision is a full commit, which never changes.
func IsCommit(revision string) bool {
	return len(revision) == 40 && strings.Trim(revision, "0123456789abcdef") == ""
}

func cachedCommit(home, revision string) (string, error) {
	if IsCommit(revision) {
		return revision, nil
	}
	if err := CheckPath(revision); err != nil {
		return "", err
	}
	f, err := os.Open(filepath.Join(home, "refs", filepath.FromSlash(revision)))
	if err != nil {
		return "", noRevision(home, revision)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 100))
	commit := strings.TrimSpace(string(text))
	if err != nil || !IsCommit(commit) {
		return "", noRevision(home, revision)
	}
	return commit, nil
}

// noRevision says which commits there are, since a download by commit leaves
// no branch name behind.
func noRevision(home, revision string) error {
	entries, _ := os.ReadDir(filepath.Join(home, "snapshots"))
	var commits []string
	for _, e := range entries {
		if IsCommit(e.Name()) {
			commits = append(commits, "@"+e.Name())
		}
	}
	if len(commits) == 0 {
		return NotExist(fmt.Sprintf("revision %s is not", revision))
	}
	return NotExist(fmt.Sprintf("revision %s is not; these are: %s", revision, strings.Join(commits, ", ")))
}

// absentFrom tells a file that the repository lacks from one that was not
// downloaded.
func absentFrom(home, repo, commit string) func(string) error {
	return func(name string) error {
		mark := filepath.Join(home, ".no_exist", commit, filepath.FromSlash(name))
		if _, err := os.Stat(mark); err == nil {
			return NotExist(fmt.Sprintf("%s has no file %s at commit %s", repo, name, commit))
		}
		return &NotCachedError{Repo: repo, Commit: commit, File: name}
	}
}

// NotCachedError is the answer for a file of a cached snapshot that was not
// downloaded, so that nobody knows whether the repository has it. It wraps
// fs.ErrNotExist.
type NotCachedError struct {
	Repo, Commit, File string
}

func (e *NotCachedError) Error() string {
	return fmt.Sprintf("%s of %s is not in the cache; go online, or download it", e.File, e.Repo)
}

// Unwrap returns fs.ErrNotExist.
func (e *NotCachedError) Unwrap() error { return fs.ErrNotExist }
