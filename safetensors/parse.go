package safetensors

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

const (
	prefixSize = 8 // bytes of the header length

	// MaxHeaderLength is the longest header that the format allows, in bytes.
	MaxHeaderLength = 100_000_000

	hubHeaderLimit = 25_000_000 // bytes of header that huggingface_hub reads

	metadataKey = "__metadata__"

	// maxFaults bounds the lists of faults and of notices. A header with more broken
	// entries is not worth counting; further faults of place and size, and further
	// notices, are only counted.
	maxFaults = 100_000
)

// ParseHeader parses and checks the JSON header of a safetensors file, padding
// included. dataSize is the number of bytes that follow the header in the file,
// or -1 where that is not known; then the end of the data is not checked.
//
// The error is an *[Error] for a header that cannot be read. Everything else
// that the reference implementation refuses is in [Header.Faults]; see the
// package comment.
//
// Memory is proportional to len(json), never to a number in it. Names alias json,
// which must not be changed any more; the shapes share one array.
func ParseHeader(json []byte, dataSize int64) (*Header, error) {
	p := newParser(json)
	err := p.document()
	if (err != nil || p.nonASCII) && !utf8.Valid(json) {
		return nil, &Error{Kind: KindNotUTF8, Offset: p.base + int64(validPrefix(json)), Detail: "header is not UTF-8"}
	}
	if err != nil {
		return nil, err
	}
	p.dropDuplicates()
	faults := p.layout(dataSize)
	p.header.Faults = joinFaults(p.metaFaults, p.entryFaults, p.tailFaults, faults)
	p.exclude()
	if len(json) > hubHeaderLimit {
		p.notice(NoticeHeaderLarge, "", 0, "the header is over 25,000,000 bytes: huggingface_hub and the Hub's pages refuse it")
	}
	if (p.base+int64(len(json)))%8 != 0 {
		p.notice(NoticeHeaderUnaligned, "", 0, "the data begins at no multiple of 8 bytes")
	}
	return p.header, nil
}

// parser holds the state of one ParseHeader.
type parser struct {
	scanner
	header *Header
	dims   []int64 // backing array of the shapes
	odd    map[int]*oddity

	// irregular is set when the layout needs a second look: a tensor does not
	// begin where the one before ends, or does not have its size.
	irregular bool
	next      int64 // where the next tensor begins in a regular file
	unaligned int   // tensors not aligned to their element size

	// The reference reads __metadata__ as it comes, the entries after the whole
	// JSON, then what follows; so the order of its complaints.
	metaFaults, entryFaults, tailFaults []*Error
	seenMetadata                        bool
}

// oddity is what is unusual about the tensor of one index.
type oddity struct {
	excluded bool     // cannot be counted
	shapeOff bool     // shape missing or unusable: no size to check
	huge     []uint64 // the true dimensions where one exceeds 63 bits
}

func newParser(json []byte) *parser {
	p := &parser{scanner: scanner{b: json, text: aliasOf(json), base: prefixSize}}
	p.header = &Header{Length: int64(len(json))}
	// One brace opens each entry. The smallest usual entry takes some 50 bytes, so
	// that a header of nothing but braces does not claim more than its share.
	entries := min(bytes.Count(json, []byte{'{'}), len(json)/48+1)
	p.header.Tensors = make([]Tensor, 0, entries)
	p.dims = make([]int64, 0, 2*entries)
	return p
}

// document reads the whole header: one object and white space.
func (p *parser) document() *Error {
	i := p.space(0)
	if i > 0 {
		p.notice(NoticeLeadingSpace, "", 0, "white space before the header's JSON object")
	}
	if p.at(i) != '{' {
		return p.notObject(i)
	}
	i, err := p.members(p.space(i + 1))
	if err != nil {
		return err
	}
	if i = p.space(i); i < len(p.b) {
		p.tailFaults = append(p.tailFaults, &Error{Kind: KindTrailingJSON, Offset: p.base + int64(i),
			Detail: "characters after the header's JSON object; only white space may follow"})
	}
	return nil
}

// members reads the entries of the top-level object, from the byte after its
// brace on.
func (p *parser) members(i int) (int, *Error) {
	if p.at(i) == '}' {
		return i + 1, nil
	}
	for {
		var valueRead bool
		var err *Error
		if i, valueRead = p.regularMembers(i); !valueRead {
			if i, err = p.member(p.space(i)); err != nil {
				return i, err
			}
		}
		if len(p.entryFaults) > maxFaults {
			return i, p.tooMany()
		}
		i = p.space(i)
		switch p.at(i) {
		case ',':
			i = p.space(i + 1)
		case '}':
			return i + 1, nil
		default:
			return i, p.fail(i, "expected ',' or '}'")
		}
	}
}

// regularMembers reads entries for as long as they are written as the reference
// writes them. It returns where the next one begins, or, with valueRead, where
// the last one that it read ends.
func (p *parser) regularMembers(i int) (next int, valueRead bool) {
	b := p.b
	for i < len(b) && b[i] == '"' {
		end := special(b, i+1)
		if len(b)-end < 3 || b[end] != '"' || b[end+1] != ':' || end == i+1 {
			return i, false
		}
		name := p.text[i+1 : end]
		if name == metadataKey {
			return i, false
		}
		next, ok := p.fastEntry(name, i, end+2)
		if !ok {
			return i, false
		}
		if next >= len(b) || b[next] != ',' {
			return next, true
		}
		i = next + 1
	}
	return i, false
}

// member reads a name in any form that JSON allows, and its value.
func (p *parser) member(i int) (int, *Error) {
	nameAt := i
	name, i, err := p.str(i)
	if err != nil {
		return i, err
	}
	if i, err = p.after(i, ':'); err != nil {
		return i, err
	}
	if name == metadataKey {
		return p.metadata(i, nameAt)
	}
	if name == "" {
		p.notice(NoticeEmptyName, "", nameAt, "a tensor has the empty name")
	}
	return p.entry(name, nameAt, i)
}

// notObject is the error for a header that does not begin with a brace.
func (p *parser) notObject(i int) *Error {
	if bytes.HasPrefix(p.b[i:], []byte("\xef\xbb\xbf")) {
		return p.fail(i, "it begins with a byte order mark; write it without one")
	}
	if i < len(p.b) {
		if _, err := p.skip(i, 0); err != nil {
			return err
		}
		return p.fail(i, "expected an object, found "+p.kind(i))
	}
	return p.fail(i, "expected '{'")
}

// notice records an oddity at position i.
func (p *parser) notice(kind NoticeKind, tensor string, i int, detail string) {
	if len(p.header.Notices) >= maxFaults {
		p.header.Unlisted++
		return
	}
	p.header.Notices = append(p.header.Notices,
		Notice{Kind: kind, Tensor: tensor, Offset: p.base + int64(i), Count: 1, Detail: detail})
}

// tooMany is the error for a header of little else than broken entries: its first
// fault, which the reference gives too.
func (p *parser) tooMany() *Error {
	first := *p.entryFaults[0]
	first.Detail += fmt.Sprintf("; more than %d entries are broken, so nothing was counted", maxFaults)
	return &first
}

// entryFault records that the entry of a tensor has the wrong form at i.
func (p *parser) entryFault(kind Kind, tensor string, i int, format string, args ...any) {
	p.entryFaults = append(p.entryFaults, &Error{Kind: kind, Tensor: tensor,
		Offset: p.base + int64(i), Detail: fmt.Sprintf(format, args...)})
}

// oddityOf returns the record of the tensor at index, made if need be.
func (p *parser) oddityOf(index int) *oddity {
	if p.odd == nil {
		p.odd = make(map[int]*oddity)
	}
	if p.odd[index] == nil {
		p.odd[index] = new(oddity)
	}
	return p.odd[index]
}

// validPrefix is the length of the part of b that is UTF-8.
func validPrefix(b []byte) int {
	i := 0
	for i < len(b) {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		i += size
	}
	return i
}

func joinFaults(lists ...[]*Error) []*Error {
	var all []*Error
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
