package safetensors

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	reference "github.com/nlpodyssey/safetensors"
)

// shardHeader is the JSON header of one shard and the size of its data.
type shardHeader struct {
	path string
	json []byte
	data int64
}

// deepSeekHeaders rebuilds the 163 headers of DeepSeek-V3 as writers of
// safetensors format them, one JSON header a shard.
func deepSeekHeaders(tb testing.TB) []shardHeader {
	tb.Helper()
	file, err := os.Open("testdata/DeepSeek-V3.tsv.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	var headers []shardHeader
	lines := bufio.NewScanner(plain)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		if len(headers) == 0 || headers[len(headers)-1].path != f[0] {
			headers = append(headers, shardHeader{path: f[0], json: []byte(`{"__metadata__":{"format":"pt"}`)})
		}
		h := &headers[len(headers)-1]
		h.appendEntry(tb, f[1], f[2], f[3])
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	for i := range headers {
		headers[i].pad()
	}
	return headers
}

func (h *shardHeader) appendEntry(tb testing.TB, name, dtype, shape string) {
	d, ok := ParseDType(dtype)
	size := int64(d.Bits() / 8)
	for dim := range strings.SplitSeq(strings.Trim(shape, "[]"), ",") {
		n, err := strconv.ParseInt(dim, 10, 64)
		if err != nil || !ok {
			tb.Fatal(name, dtype, shape, err)
		}
		size *= n
	}
	h.json = append(h.json, `,"`+name+`":{"dtype":"`+dtype+`","shape":`+shape+`,"data_offsets":[`...)
	h.json = append(strconv.AppendInt(h.json, h.data, 10), ',')
	h.data += size
	h.json = append(strconv.AppendInt(h.json, h.data, 10), "]}"...)
}

// pad closes the object and fills it up to a multiple of eight bytes.
func (h *shardHeader) pad() {
	h.json = append(h.json, '}')
	for len(h.json)%8 != 0 {
		h.json = append(h.json, ' ')
	}
}

// oneHeader joins all shards into one header of 91,991 tensors.
func oneHeader(tb testing.TB, shards []shardHeader) shardHeader {
	tb.Helper()
	one := shardHeader{json: []byte(`{"__metadata__":{"format":"pt"}`)}
	for _, shard := range shards {
		h, err := ParseHeader(shard.json, shard.data)
		if err != nil {
			tb.Fatal(err)
		}
		for _, t := range h.Tensors {
			shape := strings.ReplaceAll(fmt.Sprint(t.Shape), " ", ",")
			one.appendEntry(tb, t.Name, t.DType.String(), shape)
		}
	}
	one.pad()
	return one
}

func BenchmarkParseHeader(b *testing.B) {
	shards := deepSeekHeaders(b)
	b.Run("DeepSeek-V3/163-shards", func(b *testing.B) { benchmarkHeaders(b, shards, parseOurs) })
	one := []shardHeader{oneHeader(b, shards)}
	b.Run("DeepSeek-V3/one-header", func(b *testing.B) { benchmarkHeaders(b, one, parseOurs) })
	var spaced bytes.Buffer
	if err := json.Indent(&spaced, one[0].json, "", " "); err != nil {
		b.Fatal(err)
	}
	indented := []shardHeader{{json: spaced.Bytes(), data: one[0].data}}
	b.Run("DeepSeek-V3/indented", func(b *testing.B) { benchmarkHeaders(b, indented, parseOurs) })
}

// BenchmarkOthers measures what to compare with: encoding/json into the same
// fields without any check, and the Go port of the reference.
func BenchmarkOthers(b *testing.B) {
	shards := deepSeekHeaders(b)
	b.Run("encoding-json", func(b *testing.B) { benchmarkHeaders(b, shards, parseEncodingJSON) })
	for i := range shards {
		// The port does not know F8_E4M3; I8 has the same width.
		shards[i].json = bytes.ReplaceAll(shards[i].json, []byte(`"F8_E4M3"`), []byte(`"I8"`))
	}
	b.Run("nlpodyssey", func(b *testing.B) { benchmarkHeaders(b, shards, parseReferencePort) })
}

func benchmarkHeaders(b *testing.B, headers []shardHeader, parse func(shardHeader) error) {
	var size int64
	for _, h := range headers {
		size += int64(len(h.json))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, h := range headers {
			if err := parse(h); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func parseOurs(h shardHeader) error {
	header, err := ParseHeader(h.json, h.data)
	if err != nil {
		return err
	}
	return header.Err()
}

func parseEncodingJSON(h shardHeader) error {
	var tensors map[string]struct {
		DType   string    `json:"dtype"`
		Shape   []int64   `json:"shape"`
		Offsets [2]uint64 `json:"data_offsets"`
	}
	return json.Unmarshal(h.json, &tensors)
}

func parseReferencePort(h shardHeader) error {
	var metadata reference.Metadata
	return json.Unmarshal(h.json, &metadata)
}
