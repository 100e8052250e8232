package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// lookalike is another format that turns up under the name of safetensors.
type lookalike struct {
	magic string
	what  string // what the file is, and what to do
}

const download = "download the weights again"

var lookalikes = []lookalike{
	{"version https://git-lfs", "the file is a git-lfs pointer, not the weights; run git lfs pull, or " + download},
	{"<!DOCTYPE", "the file is an HTML page, not weights: a download answered with a web page; " + download},
	{"<!doctype", "the file is an HTML page, not weights: a download answered with a web page; " + download},
	{"<html", "the file is an HTML page, not weights: a download answered with a web page; " + download},
	{"<HTML", "the file is an HTML page, not weights: a download answered with a web page; " + download},
	{"<?xml", "the file is an XML document, not weights: most likely a storage server's error message; " + download},
	{"<Error", "the file is an XML document, not weights: most likely a storage server's error message; " + download},
	{"GGUF", "the file is a GGUF file; name it .gguf and read it with a GGUF tool, or get the safetensors weights"},
	{"PK\x03\x04", "the file is a zip archive, most likely a pickled PyTorch checkpoint; load it with torch and save it as safetensors"},
	{"\x80\x02", "the file is a Python pickle, most likely an old PyTorch checkpoint; load it with torch and save it as safetensors"},
	{"\x89HDF", "the file is an HDF5 file (Keras or TensorFlow weights); convert it to safetensors"},
	{"\x93NUMPY", "the file is a NumPy array; convert it to safetensors"},
	{"\x1f\x8b", "the file is compressed with gzip; decompress it first"},
	{"\x28\xb5\x2f\xfd", "the file is compressed with zstd; decompress it first"},
	{"Entry not found", "the file is a server's error message, not weights; " + download},
	{"Invalid username", "the file is a server's error message, not weights; log in to the Hub and " + download},
	{"Access to ", "the file is a server's error message, not weights; log in to the Hub and " + download},
}

// Sniff says what a file really is whose first bytes are start, in words that
// continue to what to do about it. It returns "" where nothing is known, among
// other cases for a safetensors file.
func Sniff(start []byte) string {
	if looksLikeHeader(start) {
		return ""
	}
	trimmed := bytes.TrimLeft(start, " \r\n\t")
	for _, l := range lookalikes {
		if bytes.HasPrefix(start, []byte(l.magic)) || bytes.HasPrefix(trimmed, []byte(l.magic)) {
			return l.what
		}
	}
	switch {
	case len(start) >= 16 && len(bytes.Trim(start, "\x00")) == 0:
		return "the file begins with zeros, so that its header has length 0: an unfinished download; " + download
	case len(trimmed) > 1 && (trimmed[0] == '{' || trimmed[0] == '[') && isText(start):
		return "the file is JSON text, not weights: most likely a server's error message or an index; " + download
	case len(start) >= 8 && isText(start):
		return fmt.Sprintf("the file is text that begins %s, not weights; %s", quoteShort(string(start[:min(len(start), 24)])), download)
	}
	return ""
}

// looksLikeHeader tells a header length followed by a JSON object from anything
// else.
func looksLikeHeader(start []byte) bool {
	if len(start) <= prefixSize || binary.LittleEndian.Uint64(start) > MaxHeaderLength {
		return false
	}
	c := start[prefixSize]
	return c == '{' || c == ' ' || c == '\n' || c == '\t' || c == '\r'
}

// isText reports whether the first bytes are printable. The last rune may be cut
// off.
func isText(start []byte) bool {
	start = start[:min(len(start), 512)]
	if i := validPrefix(start); len(start)-i >= utf8.UTFMax {
		return false
	}
	for _, c := range start {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// headerLength reads and checks the length of the header. start is the beginning
// of the file, size its size in bytes or -1.
func headerLength(start []byte, size int64) (int64, *Error) {
	if size == 0 || len(start) == 0 {
		return 0, &Error{Kind: KindTooSmall, Offset: 0, Detail: "the file is empty; " + download}
	}
	if what := Sniff(start); what != "" {
		return 0, &Error{Kind: KindNotSafetensors, Offset: 0, Detail: what}
	}
	if len(start) < prefixSize {
		return 0, &Error{Kind: KindTooSmall, Offset: 0,
			Detail: fmt.Sprintf("the file has %d bytes, too few for the header length; %s", len(start), download)}
	}
	n := binary.LittleEndian.Uint64(start)
	if n > MaxHeaderLength {
		return 0, &Error{Kind: KindHeaderTooLarge, Offset: 0,
			Detail: fmt.Sprintf("header length %d is over the limit of %d: this is not a safetensors file, or it is damaged", n, MaxHeaderLength)}
	}
	if size >= 0 && int64(n) > size-prefixSize {
		return 0, &Error{Kind: KindHeaderBeyondFile, Offset: 0,
			Detail: fmt.Sprintf("header length %d does not fit the file of %d bytes: the download is unfinished, or the file is damaged; %s", n, size, download)}
	}
	return int64(n), nil
}

// Parse parses a whole safetensors file that is in memory. The errors are those
// of [ParseHeader], and those of a file that is no safetensors file at all.
func Parse(file []byte) (*Header, error) {
	n, err := headerLength(file, int64(len(file)))
	if err != nil {
		return nil, err
	}
	return ParseHeader(file[prefixSize:prefixSize+n], int64(len(file))-prefixSize-n)
}
