package hubtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Script carries out one line of a test script, so that tests of the command
// can set the Hub up from where they say what they expect:
//
//	repo ID [alias=NAME] [private] [gated] [disabled] [dir=FOLDER | shards=N tensors=N] [DTYPE=N…]
//	push ID dir=FOLDER                  a new commit on main
//	ref ID NAME                         a branch, tag or refs/pr/N at what main is now
//	token TOKEN [ID…]                   an account and what it may read
//	fail HOW [hub|cdn] [path=TEXT] [after=N] [times=N] [HEADER=VALUE…]
//	heal                                no failures any more
//	latency DURATION, link-life DURATION
//	plain-mirror                        no sizes, no headers, no X-… fields
//	count, reset                        what was asked for since
//
// HOW is an HTTP status, or reset, silence, stall, truncate, short,
// ignore-range, headers, portal, circle or maze. The folder is relative to
// dir. What count prints goes to a script's standard output.
func (h *Hub) Script(dir string, args []string) (out string, err error) {
	h.order.Lock()
	defer h.order.Unlock()
	if len(args) == 0 {
		return "", fmt.Errorf("hub: no command")
	}
	words, options := split(args[1:])
	switch args[0] {
	case "repo":
		return "", h.scriptRepo(dir, words, options)
	case "push":
		files, err := ReadDir(filepath.Join(dir, options["dir"]))
		if err != nil || len(words) != 1 {
			return "", fmt.Errorf("push: %v", err)
		}
		h.Push(words[0], Commit(fmt.Sprint(words[0], len(h.repos[words[0]].Versions))), files)
		return "", nil
	case "ref":
		if len(words) != 2 || h.repos[words[0]] == nil {
			return "", fmt.Errorf("ref: a repository and a name are needed")
		}
		h.ref(h.repos[words[0]], words[1])
		return "", nil
	case "token":
		h.Tokens[words[0]] = Grant{Repos: words[1:]}
		return "", nil
	case "fail":
		return "", h.scriptFail(words, options)
	case "heal":
		h.mu.Lock()
		defer h.mu.Unlock()
		h.faults = nil
		return "", nil
	case "plain-mirror":
		h.NoSizes, h.NoHeaders, h.Headerless = true, true, true
		return "", nil
	case "latency":
		h.Latency, err = duration(words)
		return "", err
	case "link-life":
		h.LinkLife, err = duration(words)
		return "", err
	case "count":
		hub, cdn, _ := h.Count()
		return fmt.Sprintf("hub %d, cdn %d, leaks %d\n", hub, cdn, len(h.Leaks())), nil
	case "reset":
		h.Reset()
		return "", nil
	}
	return "", fmt.Errorf("hub: no command %s", args[0])
}

func (h *Hub) ref(r *Repo, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Refs == nil {
		r.Refs = map[string]string{}
	}
	r.Refs[name] = r.Head
}

func split(args []string) (words []string, options map[string]string) {
	options = map[string]string{}
	for _, arg := range args {
		if key, value, ok := strings.Cut(arg, "="); ok {
			options[key] = value
		} else {
			words = append(words, arg)
		}
	}
	return words, options
}

func (h *Hub) scriptRepo(dir string, words []string, options map[string]string) error {
	if len(words) == 0 {
		return fmt.Errorf("repo: no name")
	}
	r := Repo{ID: words[0], Private: slices.Contains(words, "private"), Disabled: slices.Contains(words, "disabled")}
	if slices.Contains(words, "gated") {
		r.Gated = "auto"
	}
	if alias := options["alias"]; alias != "" {
		r.Aliases = []string{alias}
	}
	if n := number(options, "shards"); n > 0 {
		r.Files = Sharded(n, max(1, number(options, "tensors")))
	} else {
		files, err := ReadDir(filepath.Join(dir, options["dir"]))
		if err != nil {
			return err
		}
		r.Files = files
	}
	r.Parameters = parameters(options)
	h.Add(r)
	return nil
}

// parameters are the Hub's own figures, whose keys are dtypes: F32=1000.
func parameters(options map[string]string) map[string]int64 {
	var figures map[string]int64
	for key := range options {
		if key == strings.ToUpper(key) {
			if figures == nil {
				figures = map[string]int64{}
			}
			figures[key] = int64(number(options, key))
		}
	}
	return figures
}

func (h *Hub) scriptFail(words []string, options map[string]string) error {
	if len(words) == 0 {
		return fmt.Errorf("fail: how?")
	}
	f := Fault{Path: options["path"], After: number(options, "after"), Times: number(options, "times")}
	for _, word := range words[1:] {
		f.Host = Host(word)
	}
	var headers []string
	for key, value := range options {
		switch key {
		case "path", "after", "times":
		default:
			headers = append(headers, key, value)
		}
	}
	status, err := strconv.Atoi(words[0])
	if err == nil {
		f.Do = Status(status, headers...)
	} else if f.Do = named(words[0], headers); f.Do == nil {
		return fmt.Errorf("fail: no way %s", words[0])
	}
	h.Fail(f)
	return nil
}

func named(how string, headers []string) doFunc {
	switch how {
	case "reset":
		return Reset()
	case "silence":
		return Stall(-1)
	case "stall":
		return Stall(10)
	case "truncate":
		return Truncate(10)
	case "short":
		return Short(10)
	case "ignore-range":
		return IgnoreRange()
	case "headers":
		return Headers(headers...)
	case "portal":
		return Portal()
	case "circle":
		return Circle()
	case "maze":
		return Maze()
	}
	return nil
}

func duration(words []string) (time.Duration, error) {
	if len(words) != 1 {
		return 0, fmt.Errorf("one duration is needed")
	}
	return time.ParseDuration(words[0])
}

func number(options map[string]string, key string) int {
	n, _ := strconv.Atoi(options[key])
	return n
}

// ReadDir takes the files of a folder; weights go to large-file storage.
func ReadDir(dir string) (map[string]File, error) {
	files := map[string]File{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		rel = filepath.ToSlash(rel)
		lfs := strings.HasSuffix(rel, ".safetensors") || strings.HasSuffix(rel, ".bin")
		files[rel] = File{Data: data, LFS: lfs}
		return err
	})
	return files, err
}
