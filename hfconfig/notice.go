package hfconfig

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ParseError says where a config file stops being a JSON object and why.
type ParseError struct {
	Line   int // from 1; 0 where no place is to blame
	Column int // in characters, from 1
	Offset int // in bytes, from 0
	Reason string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

func parseErrorAt(text string, offset int, reason string) *ParseError {
	line, column := place(text, offset)
	return &ParseError{Line: line, Column: column, Offset: offset, Reason: reason}
}

func place(text string, offset int) (line, column int) {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// NoticeKind says what a reader forgave.
type NoticeKind string

// The kinds of notices.
const (
	ByteOrderMark NoticeKind = "byte_order_mark"
	DeepNesting   NoticeKind = "deep_nesting"
	DuplicateKey  NoticeKind = "duplicate_key"
	NonFinite     NoticeKind = "non_finite_number" // NaN, Infinity or -Infinity as a value
	MoreNotices   NoticeKind = "more"              // how many were left out
)

// Notice is something in a config file that was forgiven and may trouble
// another reader.
type Notice struct {
	Kind    NoticeKind `json:"kind"`
	Field   string     `json:"field,omitempty"` // path, such as text_config.hidden_size
	Message string     `json:"message"`
	Line    int        `json:"line"`
	Column  int        `json:"column"`
	Refused bool       `json:"refused,omitempty"` // the reference library refuses the file for it
}

func (n Notice) String() string {
	if n.Field == "" {
		return n.Message
	}
	return "config field " + n.Field + ": " + n.Message
}
