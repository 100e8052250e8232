package hub

import (
	"bytes"
	"context"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hf-inspect/hf-inspect/source"
)

const (
	maxHeaders = 256 << 20 // bytes of an answer with all headers
	maxDepth   = 64        // nesting of it; real ones have four levels

	configName = "config.json"

	// Below this many shards another request to look at main is not worth it.
	minShardsToAsk = 4
)

// ShardHeaders returns the headers of all shards of an index as the Hub knows
// them, in one request, by path in the repository. That answer is about the
// head of main and names no commit; it is used only where main is at the
// pinned commit before and after and the headers fit the sizes of its files.
// Otherwise there are none, and no error: the files themselves can be read.
func (m *Model) ShardHeaders(ctx context.Context, index string) (map[string][]byte, error) {
	if err := source.CheckPath(index); err != nil {
		return nil, err
	}
	if _, ok := m.files[index]; !ok || m.client.opts.Headers != HeadersAuto {
		return nil, nil
	}
	key := "headers " + index
	if body, ok := m.cached(key); ok {
		if headers := m.takeHeaders(index, body); headers != nil {
			return headers, nil
		}
	}
	if !m.atHead(ctx, index) {
		return nil, ctx.Err()
	}
	// One attempt: where the Hub takes too long over it, the files are quicker.
	q := query{url: m.headersURL(index), gzip: true, subject: m.subject(index)}
	body, a, err := m.client.load(withAttempts(ctx, 1), q, maxHeaders)
	if err != nil || a.commit != "" && a.commit != m.meta.Commit {
		return nil, ctx.Err()
	}
	headers := m.takeHeaders(index, body)
	if headers == nil || !m.stillHead(ctx, index) {
		return nil, ctx.Err()
	}
	m.keep(key, body)
	return headers, nil
}

// stillHead looks at main again after the headers came, by reading the config,
// which every caller needs anyway and will get without another request.
func (m *Model) stillHead(ctx context.Context, index string) bool {
	if !m.wantsHead() {
		return m.headState() != headMoved
	}
	for _, name := range []string{path.Join(path.Dir(index), configName), configName} {
		f, ok := m.files[name]
		if !ok {
			continue
		}
		data, err := m.ReadRange(ctx, name, 0, f.Size)
		if err == nil {
			m.remember(name, data)
		}
		return m.headState() != headMoved
	}
	return true // the sizes have to do
}

// IndexMetadata returns the metadata object of an index whose headers came by
// ShardHeaders, so that the index itself, which mostly repeats the names of
// the tensors, need not be read. It is nil where it is not known.
func (m *Model) IndexMetadata(index string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.index[index]
}

func (m *Model) headersURL(index string) string {
	return m.client.opts.Endpoint + "/api/models/" + m.meta.ID + "/safetensors-metadata/" + escapePath(index)
}

// atHead reports whether main is at the pinned commit, as far as can be known.
func (m *Model) atHead(ctx context.Context, index string) bool {
	switch state := m.headState(); {
	case state == headMoved:
		return false
	case state == headAgrees, m.revision == mainBranch:
		return true
	case len(m.shardsOf(index)) < minShardsToAsk:
		return false
	}
	q := query{url: m.client.modelURL(m.meta.ID, mainBranch) + "?expand=sha", gzip: true, subject: m.subject("")}
	body, _, err := m.client.load(withAttempts(ctx, 2), q, maxMetadata)
	agrees := err == nil && gjson.ValidBytes(body) && gjson.GetBytes(body, "sha").String() == m.meta.Commit
	m.setHead(agrees)
	return agrees
}

var shardNumber = regexp.MustCompile(`^\d{5,}-of-\d{5,}\.safetensors$`)

// shardsOf lists the files that by name are the shards of an index.
func (m *Model) shardsOf(index string) []string {
	stem, rest, _ := strings.Cut(index, ".safetensors.index.")
	if variant, ok := strings.CutSuffix(rest, ".json"); ok {
		stem += "." + variant
	}
	var shards []string
	for _, f := range m.meta.Files {
		if number, ok := strings.CutPrefix(f.Path, stem+"-"); ok && shardNumber.MatchString(number) {
			shards = append(shards, f.Path)
		}
	}
	return shards
}

// takeHeaders reads `{"index": {"metadata": …}, "headers": {shard: header}}`;
// nil where anything in it does not fit the files of the commit.
func (m *Model) takeHeaders(index string, body []byte) map[string][]byte {
	if !shallow(body) || !gjson.ValidBytes(body) {
		return nil
	}
	root := gjson.ParseBytes(body)
	headers := map[string][]byte{}
	fits := root.Get("headers").IsObject()
	root.Get("headers").ForEach(func(name, header gjson.Result) bool {
		shard := path.Join(path.Dir(index), name.String())
		_, twice := headers[shard]
		f, known := m.files[shard]
		raw := slice(body, header)
		fits = known && !twice && header.IsObject() && plausible(raw, f.Size)
		headers[shard] = raw
		return fits
	})
	for _, shard := range m.shardsOf(index) {
		fits = fits && headers[shard] != nil
	}
	if !fits || len(headers) == 0 {
		return nil
	}
	if meta := root.Get("index.metadata"); meta.IsObject() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.index[index] = bytes.Clone(slice(body, meta))
	}
	return headers
}

// slice gives the bytes of a value in the body it came from, without a copy
// where gjson says where they are.
func slice(body []byte, value gjson.Result) []byte {
	i, n := value.Index, len(value.Raw)
	if i > 0 && i+n <= len(body) && string(body[i:i+n]) == value.Raw {
		return body[i : i+n : i+n]
	}
	return []byte(value.Raw)
}

// shallow bounds the nesting of JSON before a recursive reader sees it.
func shallow(body []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{', b == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case b == '}', b == ']':
			depth--
		}
	}
	return true
}

var offsetsKey = []byte(`data_offsets"`) // a search for the first quote would stop at each name

// plausible reports whether a header can be that of a file of this size: what
// the data leave of it is about the header's own length, which white space,
// escapes and padding change a little. It catches the headers of a commit that
// came in between.
func plausible(header []byte, size int64) bool {
	if size < 0 {
		return true
	}
	left := size - 8 - dataEnd(header)
	return left >= int64(len(header))/2 && left <= 3*int64(len(header))+64<<10
}

// dataEnd finds the largest end of a data_offsets pair.
func dataEnd(header []byte) int64 {
	var end int64
	for {
		i := bytes.Index(header, offsetsKey)
		if i < 0 {
			return end
		}
		header = header[i+len(offsetsKey):]
		pair, rest, ok := bytes.Cut(header, []byte("]"))
		_, last, comma := bytes.Cut(pair, []byte(","))
		if !ok || !comma {
			continue
		}
		if n, err := strconv.ParseInt(string(bytes.TrimSpace(last)), 10, 64); err == nil {
			end = max(end, n)
		}
		header = rest
	}
}

var _ source.IndexSource = (*Model)(nil)
var _ source.Meter = (*Model)(nil)
var _ source.FigureSource = (*Model)(nil)
