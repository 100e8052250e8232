package hub

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hf-inspect/hf-inspect/source"
)

// storeFolder is the part of the cache folder that is ours to remove. The
// number changes with the form of the entries.
const storeFolder = "hub-1"

const (
	storeMagic = "hf-inspect cache 1\n"
	maxEntry   = maxHeaders
)

// store keeps what belongs to a commit and therefore never changes: one small
// file for each thing read, readable by the user alone, since it can be of a
// private repository. It holds no token and no signed address. An entry that
// is damaged counts as absent, and a store that cannot be written keeps
// nothing: it never fails a run.
type store struct {
	dir string // "" keeps nothing
}

func newStore(cacheDir, endpoint string) *store {
	if cacheDir == "" {
		return &store{}
	}
	return &store{dir: filepath.Join(cacheDir, storeFolder, digest(endpoint)[:16])}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// file names the entry of a key.
func (s *store) file(repo, commit, key string) string {
	return filepath.Join(s.dir, "models--"+strings.ReplaceAll(repo, "/", "--"), commit, digest(key)[:32])
}

// get returns what was kept under the key.
func (s *store) get(repo, commit, key string) ([]byte, bool) {
	if s.dir == "" {
		return nil, false
	}
	entry, err := os.ReadFile(s.file(repo, commit, key))
	if err != nil || len(entry) > maxEntry {
		return nil, false
	}
	return unseal(entry, key)
}

// put keeps data. Another process may do the same at the same time: each
// writes a file of its own and renames it.
func (s *store) put(repo, commit, key string, data []byte) {
	if s.dir == "" || !source.IsCommit(commit) {
		return
	}
	name := s.file(repo, commit, key)
	if os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*") // mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(seal(data, key))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// seal writes an entry: magic, hash of the rest, key, packed data.
func seal(data []byte, key string) []byte {
	var rest bytes.Buffer
	rest.WriteString(key + "\n")
	z, _ := gzip.NewWriterLevel(&rest, gzip.BestSpeed)
	_, _ = z.Write(data) // a bytes.Buffer does not fail
	_ = z.Close()
	sum := sha256.Sum256(rest.Bytes())
	return append([]byte(storeMagic+hex.EncodeToString(sum[:])+"\n"), rest.Bytes()...)
}

// unseal gives the data of an entry that is whole and of this key.
func unseal(entry []byte, key string) ([]byte, bool) {
	body, ok := bytes.CutPrefix(entry, []byte(storeMagic))
	sum, rest, ok2 := bytes.Cut(body, []byte("\n"))
	if !ok || !ok2 {
		return nil, false
	}
	if want := sha256.Sum256(rest); hex.EncodeToString(want[:]) != string(sum) {
		return nil, false
	}
	packed, ok := bytes.CutPrefix(rest, []byte(key+"\n"))
	if !ok {
		return nil, false
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(z, maxEntry))
	return data, err == nil
}

const metadataKey = "metadata"

// metadata returns what was kept about a commit, under any name of the
// repository that was asked for.
func (s *store) metadata(repo, commit string) (Metadata, bool) {
	var meta Metadata
	if !source.IsCommit(commit) {
		return meta, false
	}
	data, ok := s.get(repo, commit, metadataKey)
	if !ok || json.Unmarshal(data, &meta) != nil || meta.Commit != commit || CheckID(meta.ID) != nil {
		return Metadata{}, false
	}
	return meta, true
}

func (s *store) putMetadata(repo string, meta Metadata) {
	data, err := json.Marshal(meta)
	if err != nil {
		return
	}
	s.put(meta.ID, meta.Commit, metadataKey, data)
	if repo != meta.ID {
		s.put(repo, meta.Commit, metadataKey, data)
	}
}

// Cleared says what ClearCache removed.
type Cleared struct {
	Files int
	Bytes int64
}

// ClearCache removes what this program kept in the cache folder, and nothing
// else that may lie there.
func ClearCache(dir string) (Cleared, error) {
	var c Cleared
	root := filepath.Join(dir, storeFolder)
	err := filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := e.Info(); err == nil {
			c.Files++
			c.Bytes += info.Size()
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err = errors.Join(err, os.RemoveAll(root)); err != nil {
		return c, fmt.Errorf("clear the cache: %w", err)
	}
	return c, nil
}
