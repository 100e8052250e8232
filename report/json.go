package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
)

// JSON writes a result value, indented or on one line. Control characters and
// marks that change the direction of writing are escaped: names come from files.
func JSON(w io.Writer, value any, indent bool) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(escapeMarks(text.Bytes()))
	return err
}

// escapeMarks spells out what a terminal or a reader of lines could stumble over.
// Such characters stand in JSON only within texts.
func escapeMarks(text []byte) []byte {
	if bytes.IndexFunc(text, isMark) < 0 {
		return text
	}
	var safe bytes.Buffer
	for _, r := range string(text) {
		switch {
		case !isMark(r):
			safe.WriteRune(r)
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			fmt.Fprintf(&safe, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
	}
	return safe.Bytes()
}

func isMark(r rune) bool {
	return r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029)
}

// several writes a single value as JSON, or several one a line.
func several[T any](w io.Writer, format string, values []T) (done bool, err error) {
	if format == "json" && len(values) == 1 {
		return true, JSON(w, &values[0], true)
	}
	if format == "json" || format == "jsonl" {
		return list(w, "jsonl", values)
	}
	return false, nil
}

// list writes values as JSON, all in one array or one a line; done is false for
// the other formats.
func list[T any](w io.Writer, format string, rows []T) (done bool, err error) {
	switch format {
	case "json":
		if rows == nil {
			rows = []T{}
		}
		return true, JSON(w, rows, true)
	case "jsonl":
		for i := range rows {
			if err := JSON(w, &rows[i], false); err != nil {
				return true, err
			}
		}
		return true, nil
	}
	return false, nil
}
