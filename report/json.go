package report

import (
	"encoding/json"
	"io"
)

// JSON writes a result value, indented or on one line.
func JSON(w io.Writer, value any, indent bool) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	return e.Encode(value)
}
