package hfconfig

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	// MaxSize is the size in bytes beyond which a config is refused unread. The
	// largest real ones, with one entry a module, stay below 3 MB.
	MaxSize = 16 << 20

	// mostMembers bounds the members of all objects of a config, each of which is
	// kept: the largest real ones have some ten thousands.
	mostMembers = 300_000

	// maxDepth bounds nesting: real configs stay below ten.
	maxDepth = 1000

	// pythonDepth is the nesting up to which the reference library (transformers
	// 5.23 on Python 3.11, measured) still reads a config.
	pythonDepth = 490
)

// Parse reads a config file: a JSON object, with the liberties that Python's
// reader takes (NaN and Infinity as values, repeated keys) and a byte order
// mark. What was forgiven is returned as notices; a file that cannot be read
// at all gives a *ParseError.
func Parse(data []byte) (*Config, []Notice, error) {
	object, notices, err := normalise(data)
	if err != nil {
		return nil, nil, err
	}
	return newConfig(object, "", "", newFaults()), notices, nil
}

// normalise checks that data is one JSON object that gjson, which checks
// nothing, reads as it stands. The text itself is never changed: gjson takes
// NaN and Infinity as numbers where its Valid would refuse them.
func normalise(data []byte) (gjson.Result, []Notice, error) {
	text := string(data) // gjson.Result keeps parts of it; the caller may reuse data
	if len(text) > MaxSize {
		return gjson.Result{}, nil, &ParseError{Reason: fmt.Sprintf("%d bytes, more than the %d that a config may have", len(text), MaxSize)}
	}
	body := text
	var notices []Notice
	if len(body) >= 3 && body[:3] == "\xef\xbb\xbf" {
		body = body[3:]
		notices = append(notices, Notice{Kind: ByteOrderMark, Line: 1, Column: 1, Refused: true,
			Message: "file begins with a byte order mark, which the reference library refuses; save it as UTF-8 without one"})
	}
	if reason := foreign(body); reason != "" {
		return gjson.Result{}, nil, &ParseError{Reason: reason}
	}
	if at, ok := invalidUTF8(text); ok {
		return gjson.Result{}, nil, parseErrorAt(text, at, fmt.Sprintf("byte 0x%02x is not UTF-8", text[at]))
	}
	scan := scanner{text: text, at: len(text) - len(body)}
	if err := scan.document(); err != nil {
		return gjson.Result{}, nil, err
	}
	object := gjson.Parse(body)
	if !object.IsObject() {
		return gjson.Result{}, nil, parseErrorAt(text, scan.start, "file is "+describe(object)+", want an object")
	}
	return object, append(notices, scan.allNotices()...), nil
}

// foreign names what stands in place of a JSON text, or returns "".
func foreign(body string) string {
	trimmed := trimSpace(body)
	head := []byte(trimmed[:min(len(trimmed), 64)])
	lower := bytes.ToLower(head)
	switch {
	case len(body) == 0:
		return "file is empty"
	case len(trimmed) == 0:
		return "file holds white space only"
	case hasPrefix(body, "\xff\xfe", "\xfe\xff"):
		return "file is UTF-16; save it as UTF-8"
	case len(body) > 8 && body[8] == '{' && body[4:8] == "\x00\x00\x00\x00":
		return "file is a safetensors file, not a JSON text"
	case len(body) >= 2 && (body[0] == 0) != (body[1] == 0):
		return "file looks like UTF-16 without a byte order mark; save it as UTF-8"
	case bytes.HasPrefix(head, []byte("version https://git-lfs.github.com")):
		return "file is a git-lfs pointer, not the file itself; fetch it with git lfs pull"
	case hasPrefix(string(lower), "<!doctype html", "<html", "<head", "<body"):
		return "file is an HTML page; the download answered with a web page instead of the file"
	case hasPrefix(string(lower), "<?xml", "<error"):
		return "file is an XML answer of a server, not a JSON text"
	case hasPrefix(body, "\x1f\x8b"):
		return "file is gzip-compressed; unpack it first"
	case hasPrefix(body, "PK\x03\x04"):
		return "file is a zip archive, not a JSON text"
	}
	return ""
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if len(s) >= len(prefix) && s[:len(prefix)] == prefix {
			return true
		}
	}
	return false
}

func trimSpace(s string) string {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func invalidUTF8(text string) (offset int, found bool) {
	if utf8.ValidString(text) {
		return 0, false
	}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i, true
			}
		}
	}
	return 0, false
}
