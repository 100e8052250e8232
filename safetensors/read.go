package safetensors

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hf-inspect/hf-inspect/source"
)

const (
	defaultParallel  = 8
	farParallel      = 16 // of a source whose every read takes its time
	defaultFirstRead = 64 << 10
	headerRoom       = 4 << 10 // spare room in an estimate of a header's length
	unknownSizeStep  = 4 << 20
	maxIndexSize     = 512 << 20 // the largest known index has 60 MB
)

// ReadOptions tunes ReadCheckpoint; the zero value is sensible.
type ReadOptions struct {
	// Parallel is how many files are read at once; 0 means 8, and 16 of a
	// [source.IndexSource].
	Parallel int

	// FirstRead is the size of the first request for each file in bytes; a header
	// that is longer takes a second request. 0 means as much as the header will
	// likely need by what the index says or by how large it is, and 64 KiB without
	// one.
	FirstRead int64

	// WholeIndex reads the index of a source that is a [source.IndexSource] even
	// where the shards' names tell which they are. Such a source is far away: the
	// index costs a request there, and often as many bytes as all headers, to
	// repeat what they say. Any other source's index is always read.
	WholeIndex bool

	// IndexedOnly leaves files out of the count that the index does not name, even
	// where their tensors extend the set; see [Checkpoint.Unused].
	IndexedOnly bool

	// Progress is called after each file, never twice at once.
	Progress func(done, total int)
}

// ReadCheckpoint reads the headers of a set, and its index where there is one.
// A file that is missing or damaged does not keep the others from being counted:
// [Checkpoint.Complete] is false then. The error is that of the context, or says
// that the set names no file at all.
func ReadCheckpoint(ctx context.Context, src source.Source, set Set, opts ReadOptions) (*Checkpoint, error) {
	r := &reader{src: src, opts: opts, c: &Checkpoint{Set: set, Complete: true}}
	if set.Index != "" {
		r.c.Index = r.offeredIndex(ctx)
	}
	if set.Index != "" && r.c.Index == nil {
		if err := r.index(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.listFiles(ctx); err != nil {
		return nil, err
	}
	if err := r.readHeaders(ctx); err != nil {
		return nil, err
	}
	newComparison(r.c, opts.IndexedOnly).run()
	return r.c, nil
}

// reader holds the state of one ReadCheckpoint.
type reader struct {
	src  source.Source
	opts ReadOptions
	c    *Checkpoint

	expected map[string]int64  // likely header length by path, from the index
	headers  map[string][]byte // offered by the source, all in one step
}

// index reads the index, or does without.
func (r *reader) index(ctx context.Context) error {
	spare, err := r.sparesIndex(ctx)
	if err != nil {
		return err
	}
	if !spare {
		return r.readIndex(ctx)
	}
	// Of the index its size is known: it repeats each name once, as the headers
	// do, and takes a little less for each tensor than they.
	set := &r.c.Set
	r.expected = make(map[string]int64, len(set.Files))
	for _, part := range set.Files {
		r.expected[part.Path] = set.IndexSize*3/2/int64(len(set.Files)) + headerRoom
	}
	return nil
}

// sparesIndex reports whether an index that is far away can be done without: the
// numbering is complete, and no other file beside the shards could belong to
// them.
func (r *reader) sparesIndex(ctx context.Context) (bool, error) {
	set := &r.c.Set
	if _, far := r.src.(source.IndexSource); !far || r.opts.WholeIndex {
		return false, nil
	}
	if set.IndexSize < 0 || set.Of == 0 || len(set.Files) != set.Of || len(set.Missing)+len(set.Strays) > 0 {
		return false, nil
	}
	files, err := r.src.List(ctx)
	if err != nil {
		return false, err
	}
	beside := 0
	for _, f := range files {
		if path.Ext(f.Path) == ".safetensors" && path.Join(set.Folder, path.Base(f.Path)) == f.Path {
			beside++
		}
	}
	return beside == len(set.Files), nil
}

// readIndex reads the index. One that cannot be read is a fault of the set, and
// the shards speak for themselves.
func (r *reader) readIndex(ctx context.Context) error {
	file := r.c.Set.Index
	text, err := readBounded(ctx, r.src, file, r.c.Set.IndexSize, 0, maxIndexSize)
	if err == nil && r.c.Set.IndexSize > maxIndexSize {
		err = &Error{Kind: KindIndex, File: file, Offset: -1, Detail: "the index is too large to be one"}
	}
	if err == nil {
		r.c.Index, err = ReadIndex(file, text)
	}
	if err == nil {
		r.expectHeaders()
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var fault *Error
	if !errors.As(err, &fault) {
		fault = &Error{Kind: KindUnreadable, File: file, Offset: -1, Detail: "the index cannot be read", Err: err}
	} else if what := Sniff(text); what != "" && !bytes.HasPrefix(text, []byte{'{'}) {
		fault.Detail = what
	}
	r.c.Faults = append(r.c.Faults, fault)
	return nil
}

// expectHeaders estimates the length of each shard's header: the names are
// known, dtype, shape and offsets take some 75 bytes, and a little spare room.
func (r *reader) expectHeaders() {
	index := r.c.Index
	sizes := make([]int64, len(index.Shards))
	for _, entry := range index.Entries {
		sizes[entry.Shard] += int64(len(entry.Name)) + 100
	}
	r.expected = make(map[string]int64, len(sizes))
	for i, size := range sizes {
		r.expected[path.Join(r.c.Set.Folder, index.Shards[i])] = size + headerRoom
	}
}

// readHeaders reads all files, in parallel.
func (r *reader) readHeaders(ctx context.Context) error {
	headers := r.offeredHeaders(ctx)
	files := slices.Concat(r.c.Files, r.c.Unused)
	parallel := r.opts.Parallel
	if parallel <= 0 {
		parallel = defaultParallel
		if _, far := r.src.(source.IndexSource); far {
			parallel = farParallel
		}
	}
	var group errgroup.Group
	group.SetLimit(parallel)
	var progress sync.Mutex
	done := 0
	for _, file := range files {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if file.Err == nil && !file.offered(headerOf(headers, file.Path, r.c.Set.Folder)) {
				file.Header, file.Err = ReadHeader(ctx, r.src, file, r.firstRead(file))
			}
			progress.Lock()
			defer progress.Unlock()
			done++
			if r.opts.Progress != nil {
				r.opts.Progress(done, len(files))
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// offeredHeaders asks the source for all headers at once. Where that does not
// work, each is read from its file.
func (r *reader) offeredHeaders(ctx context.Context) map[string][]byte {
	if r.headers != nil {
		return r.headers
	}
	all, ok := r.src.(source.HeaderSource)
	if !ok || r.c.Index == nil {
		return nil
	}
	headers, err := all.ShardHeaders(ctx, r.c.Set.Index)
	if err != nil {
		return nil
	}
	return headers
}

// offered takes a header that the source offers, if it agrees with the file: by
// the file's size there must be room for just such a header.
func (f *File) offered(json []byte) bool {
	if json == nil || f.Size < 0 {
		return false
	}
	h, err := ParseHeader(json, -1)
	if err != nil || h.Err() != nil {
		return false
	}
	length := f.Size - prefixSize - h.DataEnd()
	// The header may have been written anew: other white space, but no more than
	// half or less than double the length.
	if length < int64(len(json))/2 || length > int64(len(json))*2 || length > MaxHeaderLength {
		return false
	}
	if h.Length != length {
		for i := range h.Tensors {
			h.Tensors[i].At = 0 // not the place in the file
		}
	}
	h.Length = length
	f.Header = h
	return true
}

// firstRead is the size of the first request for a file, in bytes.
func (r *reader) firstRead(file *File) int64 {
	first := r.opts.FirstRead
	if first <= 0 {
		first = cmp.Or(r.expected[file.Path], defaultFirstRead)
	}
	return min(first, prefixSize+MaxHeaderLength)
}

// ReadHeader reads the header of one file with a first request of firstRead
// bytes, 0 for 64 KiB, and a second one where the header is longer. The file's
// size is used to check the data's end where it is not -1. The error is an
// *[Error] that names the file.
func ReadHeader(ctx context.Context, src source.Source, file *File, firstRead int64) (*Header, error) {
	if firstRead < prefixSize {
		firstRead = defaultFirstRead
	}
	start, err := readBounded(ctx, src, file.Path, file.Size, 0, firstRead)
	if err != nil {
		return nil, unreadable(file.Path, err)
	}
	size := file.Size
	if size < 0 && int64(len(start)) < firstRead {
		size = int64(len(start)) // the file ended within the first request
	}
	length, fault := headerLength(start, size)
	if fault != nil {
		return nil, fault.withFile(file.Path)
	}
	end := prefixSize + length
	if int64(len(start)) < end {
		rest, err := readBounded(ctx, src, file.Path, size, int64(len(start)), end)
		if err != nil {
			return nil, unreadable(file.Path, err)
		}
		start = append(start, rest...)
	}
	if int64(len(start)) < end {
		return nil, &Error{Kind: KindHeaderBeyondFile, File: file.Path, Offset: int64(len(start)),
			Detail: fmt.Sprintf("the file ends within its header of %d bytes; %s", length, download)}
	}
	header, err := ParseHeader(start[prefixSize:end], max(size-end, -1))
	var invalid *Error
	if errors.As(err, &invalid) {
		return nil, invalid.withFile(file.Path)
	}
	return header, err
}

// readBounded reads a file from begin to end, which may lie beyond the file. It
// never asks for more than a file of known size holds; of a file of unknown size
// it asks for twice as much each time, so that a number in the file does not
// decide how much is allocated.
func readBounded(ctx context.Context, src source.Source, file string, size, begin, end int64) ([]byte, error) {
	if size >= 0 {
		if end = min(end, size); end <= begin {
			return nil, nil
		}
		return src.ReadRange(ctx, file, begin, end-begin)
	}
	var data []byte
	for step := int64(unknownSizeStep); begin < end; step *= 2 {
		want := min(step, end-begin)
		part, err := src.ReadRange(ctx, file, begin, want)
		if err != nil {
			return nil, err
		}
		if data == nil {
			data = part
		} else {
			data = append(data, part...)
		}
		if int64(len(part)) < want {
			break
		}
		begin += want
	}
	return data, nil
}

// headerOf finds an offered header by the path in the source or in the index.
func headerOf(headers map[string][]byte, file, folder string) []byte {
	if json := headers[file]; json != nil || folder == "" {
		return json
	}
	return headers[strings.TrimPrefix(file, folder+"/")]
}

// unreadable wraps an error of the source.
func unreadable(file string, err error) *Error {
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{Kind: KindMissingShard, File: file, Offset: -1, Detail: "the file is not there; " + download, Err: err}
	}
	return &Error{Kind: KindUnreadable, File: file, Offset: -1, Detail: "the file cannot be read", Err: err}
}
