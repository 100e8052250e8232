package hub

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/source"
)

// Metadata is what the Hub says about a repository at one commit.
type Metadata struct {
	ID        string     `json:"id"`     // the canonical name
	Commit    string     `json:"commit"` // 40 hex digits
	Files     []FileInfo `json:"files"`  // sorted by path
	Private   bool       `json:"private,omitempty"`
	Gated     string     `json:"gated,omitempty"` // "auto" or "manual" where terms must be accepted
	Library   string     `json:"library,omitempty"`
	Pipeline  string     `json:"pipeline,omitempty"`
	BaseModel []string   `json:"base_model,omitempty"` // as the tags name it

	// Parameters are the Hub's own figures by dtype, of one set of weights that
	// the Hub chose; nil where it has none. A declared number, never evidence.
	Parameters map[string]int64 `json:"parameters,omitempty"`
	Total      int64            `json:"total,omitempty"` // the Hub's own sum, which is not always that of Parameters
}

// FileInfo is a file of a repository.
type FileInfo struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`             // bytes; -1 when the Hub does not say
	SHA256 string `json:"sha256,omitempty"` // files in large-file storage only
}

// apiModel is the answer of /api/models/{id}. What only informs is decoded
// apart, so that an odd value there does not spoil the rest.
type apiModel struct {
	ID       string       `json:"id"`
	ModelID  string       `json:"modelId"`
	SHA      string       `json:"sha"`
	Siblings []apiSibling `json:"siblings"`

	Private     json.RawMessage `json:"private"`
	Gated       json.RawMessage `json:"gated"`
	Disabled    json.RawMessage `json:"disabled"`
	Library     json.RawMessage `json:"library_name"`
	Pipeline    json.RawMessage `json:"pipeline_tag"`
	Tags        json.RawMessage `json:"tags"`
	Safetensors json.RawMessage `json:"safetensors"`
}

type apiSibling struct {
	Name string `json:"rfilename"`
	Size *int64 `json:"size"`
	LFS  *struct {
		SHA256 string `json:"sha256"`
		Size   int64  `json:"size"`
	} `json:"lfs"`
}

// parseModel reads the answer; ok is false where it is not one of a Hub.
func parseModel(body []byte) (meta Metadata, disabled, ok bool) {
	var m apiModel
	if json.Unmarshal(body, &m) != nil || !source.IsCommit(m.SHA) {
		return meta, false, false
	}
	first(&m.ID, m.ModelID)
	if CheckID(m.ID) != nil {
		return meta, false, false
	}
	meta = Metadata{ID: m.ID, Commit: m.SHA}
	for _, s := range m.Siblings {
		if source.CheckPath(s.Name) == nil {
			meta.Files = append(meta.Files, s.info())
		}
	}
	sortFiles(meta.Files)
	m.inform(&meta)
	_ = json.Unmarshal(m.Disabled, &disabled)
	return meta, disabled, true
}

func (s apiSibling) info() FileInfo {
	f := FileInfo{Path: s.Name, Size: -1}
	if s.LFS != nil {
		f.Size, f.SHA256 = s.LFS.Size, s.LFS.SHA256
	}
	if s.Size != nil && *s.Size >= 0 {
		f.Size = *s.Size
	}
	return f
}

func (m *apiModel) inform(meta *Metadata) {
	_ = json.Unmarshal(m.Private, &meta.Private)
	_ = json.Unmarshal(m.Gated, &meta.Gated) // false where it is not
	_ = json.Unmarshal(m.Library, &meta.Library)
	_ = json.Unmarshal(m.Pipeline, &meta.Pipeline)
	var tags []string
	_ = json.Unmarshal(m.Tags, &tags)
	for _, tag := range tags {
		if base, ok := strings.CutPrefix(tag, "base_model:"); ok && CheckID(base) == nil {
			meta.BaseModel = append(meta.BaseModel, base)
		}
	}
	var figures struct {
		Parameters map[string]int64 `json:"parameters"`
		Total      int64            `json:"total"`
	}
	if json.Unmarshal(m.Safetensors, &figures) == nil {
		meta.Parameters, meta.Total = figures.Parameters, figures.Total
	}
}

// sized reports whether the weights' sizes are known.
func sized(files []FileInfo) bool {
	return !slices.ContainsFunc(files, func(f FileInfo) bool {
		return f.Size < 0 && strings.HasSuffix(f.Path, ".safetensors")
	})
}

func sortFiles(files []FileInfo) {
	slices.SortFunc(files, func(a, b FileInfo) int { return strings.Compare(a.Path, b.Path) })
}

// looksHTML reports an answer meant for a browser.
func looksHTML(contentType string, body []byte) bool {
	return strings.HasPrefix(contentType, "text/html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}
