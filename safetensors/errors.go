package safetensors

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind says which rule a file breaks.
type Kind uint8

// The kinds of [Error]. Those of the first group leave nothing to count.
const (
	KindNone Kind = iota

	// The file or its header cannot be read.
	KindNotSafetensors   // another format, recognised by its first bytes
	KindTooSmall         // shorter than the eight bytes of the header length
	KindHeaderTooLarge   // header length over 100,000,000
	KindHeaderBeyondFile // header longer than the file
	KindNotUTF8          // header is not UTF-8
	KindJSON             // header is not JSON
	KindTooDeep          // JSON nested deeper than 127 levels

	// The header can be read; the reference refuses it.
	KindTrailingJSON    // something after the JSON object that is not white space
	KindEntry           // an entry, or one of its fields, is missing or of the wrong type
	KindDuplicateField  // a field twice in one entry, or __metadata__ twice
	KindMetadata        // __metadata__ is not an object of strings
	KindUnknownDType    // a dtype that the format does not have
	KindEmptyDescriptor // an entry without dtype, shape and data: a tensor that was not stored
	KindReversed        // end before begin
	KindHole            // bytes before a tensor that belong to none
	KindOverlap         // two tensors share bytes
	KindOverflow        // shape or size does not fit 64 bits
	KindMisaligned      // elements of 4 or 6 bits that do not fill whole bytes
	KindSizeMismatch    // range is not shape times dtype
	KindTruncated       // file ends before the data
	KindTrailingBytes   // bytes after the last tensor

	// Sets of files.
	KindIndex           // the index cannot be read, or lacks what the reference needs
	KindUnsafePath      // the index names a file outside the folder
	KindMissingShard    // a shard that is not there
	KindUnreadable      // a file that could not be read
	KindDuplicateTensor // the same tensor in two files
	KindTotalOverflow   // a sum over the checkpoint does not fit 63 bits
	KindRange           // a tensor's values cannot be read
)

var kindNames = [...]string{
	KindNone:             "none",
	KindNotSafetensors:   "not_safetensors",
	KindTooSmall:         "file_too_small",
	KindHeaderTooLarge:   "header_too_large",
	KindHeaderBeyondFile: "header_beyond_file",
	KindNotUTF8:          "header_not_utf8",
	KindJSON:             "header_not_json",
	KindTooDeep:          "header_too_deep",
	KindTrailingJSON:     "header_trailing_characters",
	KindEntry:            "invalid_entry",
	KindDuplicateField:   "duplicate_field",
	KindMetadata:         "invalid_metadata",
	KindUnknownDType:     "unknown_dtype",
	KindEmptyDescriptor:  "empty_descriptor",
	KindReversed:         "reversed_offsets",
	KindHole:             "hole",
	KindOverlap:          "overlap",
	KindOverflow:         "overflow",
	KindMisaligned:       "misaligned",
	KindSizeMismatch:     "size_mismatch",
	KindTruncated:        "truncated",
	KindTrailingBytes:    "trailing_bytes",
	KindIndex:            "invalid_index",
	KindUnsafePath:       "unsafe_path",
	KindMissingShard:     "missing_shard",
	KindUnreadable:       "unreadable",
	KindDuplicateTensor:  "duplicate_tensor",
	KindTotalOverflow:    "total_overflow",
	KindRange:            "unreadable_range",
}

// String is a stable identifier, "size_mismatch" for example.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// MarshalText writes the identifier.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Error is one thing that is wrong with a file or a set of files. Find it with
// errors.As.
type Error struct {
	Kind   Kind
	File   string // path of the file; empty where only a header is known
	Tensor string // name of the tensor; empty where none is concerned
	Offset int64  // byte offset in the file; -1 where it means nothing

	Detail string // what is wrong, and what to do where something can be done
	Err    error  // cause, may be nil
}

// Error is one sentence with file, tensor and place. Names are quoted: they come
// from the file and can hold any characters.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(printable(e.File))
		b.WriteString(": ")
	}
	if e.Tensor != "" {
		b.WriteString("tensor ")
		b.WriteString(quoteShort(e.Tensor))
		b.WriteString(": ")
	}
	b.WriteString(e.Detail)
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " (byte %d)", e.Offset)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// withFile returns the error with its file filled in, unless it has one.
func (e *Error) withFile(path string) *Error {
	if e.File != "" {
		return e
	}
	named := *e
	named.File = path
	return &named
}

// maxQuoted bounds how much of a name a message repeats.
const maxQuoted = 120

// quoteShort quotes a name for a message: no control characters, no
// direction marks, and never a page of it.
func quoteShort(name string) string {
	if len(name) <= maxQuoted {
		return strconv.Quote(name)
	}
	return strconv.Quote(name[:maxQuoted]) + "…"
}

// printable leaves ordinary paths as they are and quotes all others.
func printable(path string) string {
	quoted := strconv.Quote(path)
	if quoted == `"`+path+`"` {
		return path
	}
	return quoted
}
