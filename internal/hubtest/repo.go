package hubtest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Repo is a model repository on the fake Hub.
type Repo struct {
	ID      string
	Aliases []string // former and legacy names; the Hub redirects from them

	Head     string                     // the commit of main; filled by Add where empty
	Refs     map[string]string          // further branches, tags and refs/pr/N
	Versions map[string]map[string]File // files by commit; Files is the one of Head
	Files    map[string]File

	Private  bool
	Disabled bool
	Gated    string // "auto" or "manual"

	Parameters map[string]int64 // the Hub's own figures
}

// File is a file whose content is Data, and zeros from there up to Size.
type File struct {
	Data []byte
	Size int64 // len(Data) where smaller
	LFS  bool  // whether it lies in large-file storage, behind the second host
}

// Text is a small file.
func Text(content string) File { return File{Data: []byte(content)} }

func (f File) size() int64 { return max(f.Size, int64(len(f.Data))) }

// sha stands for the hash of the content without computing that of the zeros.
func (f File) sha() string {
	sum := sha256.Sum256(fmt.Appendf(f.Data[:len(f.Data):len(f.Data)], "+%d", f.size()))
	return hex.EncodeToString(sum[:])
}

// sparse reads a File.
type sparse struct {
	f  File
	at int64
}

func (s *sparse) Read(p []byte) (int, error) {
	left := s.f.size() - s.at
	if left <= 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), left)]
	clear(p)
	if s.at < int64(len(s.f.Data)) {
		copy(p, s.f.Data[s.at:])
	}
	s.at += int64(len(p))
	return len(p), nil
}

func (s *sparse) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += s.f.size()
	}
	if offset < 0 {
		return 0, errors.New("negative offset")
	}
	s.at = offset
	return offset, nil
}

// Tensor is one entry of a header.
type Tensor struct {
	Name  string
	DType string // F32, BF16, …
	Shape []int64
}

func (t Tensor) bytes() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	switch {
	case strings.HasPrefix(t.DType, "F8"), t.DType == "I8", t.DType == "U8", t.DType == "BOOL":
		return n
	case strings.HasSuffix(t.DType, "16"):
		return 2 * n
	case strings.HasSuffix(t.DType, "64"):
		return 8 * n
	}
	return 4 * n
}

// Safetensors is a weight file with these tensors, all of whose data are zero
// and cost nothing.
func Safetensors(tensors ...Tensor) File {
	var b strings.Builder
	b.WriteString(`{"__metadata__":{"format":"pt"}`)
	var at int64
	for _, t := range tensors {
		name, _ := json.Marshal(t.Name)
		shape, _ := json.Marshal(t.Shape)
		fmt.Fprintf(&b, `,%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`, name, t.DType, shape, at, at+t.bytes())
		at += t.bytes()
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	data := binary.LittleEndian.AppendUint64(nil, uint64(b.Len()))
	data = append(data, b.String()...)
	return File{Data: data, Size: int64(len(data)) + at, LFS: true}
}

// Sharded is a checkpoint in n shards of perShard tensors each, with its
// index: names as long as real ones, so that headers have a real size.
func Sharded(n, perShard int) map[string]File {
	files := map[string]File{"config.json": Text(`{"model_type": "llama", "architectures": ["LlamaForCausalLM"]}`)}
	var index strings.Builder
	var total int64
	for i := range n {
		shard := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, n)
		tensors := make([]Tensor, perShard)
		for j := range tensors {
			t := Tensor{fmt.Sprintf("model.layers.%d.mlp.experts.%d.down_proj.weight", i, j), "BF16", []int64{7168, 2048}}
			fmt.Fprintf(&index, ",%q:%q", t.Name, shard)
			total += t.bytes()
			tensors[j] = t
		}
		files[shard] = Safetensors(tensors...)
	}
	files["model.safetensors.index.json"] = Text(fmt.Sprintf(`{"metadata":{"total_size":%d},"weight_map":{%s}}`, total, index.String()[1:]))
	return files
}

// Commit makes a commit's name out of any text.
func Commit(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:20])
}
