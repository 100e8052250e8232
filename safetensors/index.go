package safetensors

import (
	"bytes"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Index is a model.safetensors.index.json: it says which file holds which
// tensor.
type Index struct {
	Path string

	Shards  []string     // files named, in order of first appearance, as spelled
	Entries []IndexEntry // one a tensor, in order; of a name that occurs twice the last

	TotalSize       Declared // metadata.total_size: bytes of tensor data
	TotalParameters Declared // metadata.total_parameters; what it counts depends on the writer

	Faults  []*Error // what the reference library would not load, or what must not be followed
	Notices []Notice
}

// IndexEntry says in which shard a tensor is.
type IndexEntry struct {
	Name  string
	Shard int32 // position in Index.Shards
}

// ReadIndex parses an index. It forgives whatever leaves a list of tensors and
// files; each such thing is in [Index.Faults]. The error is an *[Error] for text
// that is no JSON object.
//
// The names alias json, which must not be changed any more: an index of 60 MB and
// 500,000 tensors takes no more than that, and 24 bytes a tensor.
func ReadIndex(path string, json []byte) (*Index, error) {
	r := &indexReader{
		scanner: scanner{b: json, text: aliasOf(json), lenient: true},
		index:   &Index{Path: path},
		shards:  make(map[string]int32),
	}
	err := r.document()
	if (err != nil || r.nonASCII) && !utf8.Valid(json) {
		err = &Error{Offset: int64(validPrefix(json)), Detail: "the index is not UTF-8"}
	}
	if err != nil {
		err.Kind, err.File = KindIndex, path
		err.Detail = strings.NewReplacer("header is not valid JSON", "the index is not valid JSON",
			"the header ends", "the file ends").Replace(err.Detail)
		return nil, err
	}
	r.finish()
	return r.index, nil
}

type indexReader struct {
	scanner
	index  *Index
	shards map[string]int32

	hasMetadata, hasMap bool
}

func (r *indexReader) document() *Error {
	start := 0
	if bytes.HasPrefix(r.b, []byte("\xef\xbb\xbf")) {
		start = 3
		r.fault(KindIndex, "", 0, "the index begins with a byte order mark, which the reference library refuses")
	}
	i := r.space(start)
	if r.at(i) != '{' {
		return r.fail(i, "expected an object")
	}
	i, err := r.pairs(i, func(key string, _, i int) (int, *Error) {
		switch key {
		case "metadata":
			return r.metadata(i)
		case "weight_map":
			return r.weightMap(i)
		}
		return r.skip(i, 1)
	})
	if err != nil {
		return err
	}
	if i = r.space(i); i < len(r.b) {
		r.fault(KindIndex, "", i, "characters after the index's JSON object, which the reference library refuses")
	}
	return nil
}

// pairs reads the object at i and calls read with each key, the position of the
// key and that of its value; read returns where the value ends.
func (s *scanner) pairs(i int, read func(key string, keyAt, i int) (int, *Error)) (int, *Error) {
	if i = s.space(i + 1); s.at(i) == '}' {
		return i + 1, nil
	}
	for {
		keyAt := i
		key, next, err := s.str(i)
		if err != nil {
			return next, err
		}
		if i, err = s.after(next, ':'); err != nil {
			return i, err
		}
		if i, err = read(key, keyAt, i); err != nil {
			return i, err
		}
		switch i = s.space(i); s.at(i) {
		case ',':
			i = s.space(i + 1)
		case '}':
			return i + 1, nil
		default:
			return i, s.fail(i, "expected ',' or '}'")
		}
	}
}

// metadata keeps the declared totals as they are spelled.
func (r *indexReader) metadata(i int) (int, *Error) {
	r.hasMetadata = r.at(i) == '{'
	if !r.hasMetadata {
		r.fault(KindIndex, "", i, "metadata is "+r.kind(i)+", not an object; the reference library does not load such a set")
		r.hasMetadata = true // reported
		return r.skip(i, 1)
	}
	return r.pairs(i, func(key string, _, i int) (int, *Error) {
		end, err := r.skip(i, 2)
		if err != nil {
			return end, err
		}
		switch key {
		case "total_size":
			r.index.TotalSize.Raw = r.text[i:end]
		case "total_parameters":
			r.index.TotalParameters.Raw = r.text[i:end]
		}
		return end, nil
	})
}

// weightMap reads the names of tensors and their files.
func (r *indexReader) weightMap(i int) (int, *Error) {
	r.hasMap = true
	if r.at(i) != '{' {
		r.fault(KindIndex, "", i, "weight_map is "+r.kind(i)+", not an object; the headers alone say what is where")
		return r.skip(i, 1)
	}
	last := int32(-1)
	return r.pairs(i, func(name string, keyAt, i int) (int, *Error) {
		if r.at(i) != '"' {
			r.fault(KindIndex, name, i, "weight_map names "+r.kind(i)+" instead of a file")
			return r.skip(i, 2)
		}
		shard, end, err := r.str(i)
		if err != nil {
			return end, err
		}
		if last < 0 || r.index.Shards[last] != shard {
			last = r.shard(shard, name, i)
		}
		r.index.Entries = append(r.index.Entries, IndexEntry{name, last})
		return end, nil
	})
}

// shard returns the position of a file in Index.Shards, appended if new.
func (r *indexReader) shard(file, tensor string, at int) int32 {
	position, known := r.shards[file]
	if !known {
		position = int32(len(r.index.Shards))
		r.shards[file] = position
		r.index.Shards = append(r.index.Shards, file)
		if reason := unsafeReason(file); reason != "" {
			r.fault(KindUnsafePath, tensor, at, "the index names the file "+quoteShort(file)+", "+reason+"; it was not opened")
		}
	}
	return position
}

// finish drops names that occur again later and reports what is missing.
func (r *indexReader) finish() {
	if !r.hasMetadata {
		r.fault(KindIndex, "", -1, "the index has no metadata; the reference library does not load such a set")
	}
	if !r.hasMap {
		r.fault(KindIndex, "", -1, "the index has no weight_map; the headers alone say what is where")
	}
	entries := r.index.Entries
	nameOf := func(i int) string { return entries[i].Name }
	table := newNameTable(len(entries))
	kept := entries[:0]
	for _, entry := range entries {
		// kept never overtakes the loop, so nameOf sees kept names only.
		if earlier, twice := table.put(entry.Name, len(kept), nameOf); twice {
			entries[earlier] = entry
			r.index.Notices = append(r.index.Notices, Notice{Kind: NoticeIndexDuplicate, Tensor: entry.Name, Offset: -1, Count: 1,
				Detail: "the index names the tensor twice; the last file counts"})
			continue
		}
		kept = append(kept, entry)
	}
	r.index.Entries = kept
	if len(kept) < len(entries) {
		r.index.dropUnnamed()
	}
}

// dropUnnamed removes files that only overruled entries named: a loader never
// sees them.
func (x *Index) dropUnnamed() {
	position := make([]int32, len(x.Shards))
	for _, entry := range x.Entries {
		position[entry.Shard] = 1
	}
	named := x.Shards[:0]
	for i, shard := range x.Shards {
		if position[i] == 1 {
			position[i] = int32(len(named))
			named = append(named, shard)
		}
	}
	x.Shards = named
	for i := range x.Entries {
		x.Entries[i].Shard = position[x.Entries[i].Shard]
	}
}

func (r *indexReader) fault(kind Kind, tensor string, i int, detail string) {
	r.index.Faults = append(r.index.Faults, &Error{Kind: kind, File: r.index.Path, Tensor: tensor, Offset: int64(i), Detail: detail})
}

// unsafeReason says why a file that an index names must not be opened, or "".
// Only files in or below the folder of the index may be.
func unsafeReason(file string) string {
	switch {
	case file == "":
		return "which is empty"
	case strings.ContainsFunc(file, unicode.IsControl):
		return "which holds control characters"
	case strings.ContainsRune(file, '\\'):
		return "which holds a backslash"
	case strings.HasPrefix(file, "/") || len(file) > 1 && file[1] == ':':
		return "an absolute path"
	case file == ".." || strings.HasPrefix(path.Clean(file), "../") || strings.Contains("/"+file+"/", "/../"):
		return "which leads out of the folder"
	}
	return ""
}
