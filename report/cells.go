package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// cells writes rows of CSV for spreadsheets, which take a text that begins like a
// formula for one: a name from a file could run it. Such a text gets an apostrophe
// before it (OWASP, CSV Injection); numbers stay as they are.
type cells struct{ *csv.Writer }

func newCells(w io.Writer) cells { return cells{csv.NewWriter(w)} }

// Write writes one row.
func (c cells) Write(row []string) error {
	safe := make([]string, len(row))
	for i, text := range row {
		safe[i] = plainCell(text)
	}
	return c.Writer.Write(safe)
}

// WriteAll writes rows and flushes.
func (c cells) WriteAll(rows [][]string) error {
	for _, row := range rows {
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func plainCell(text string) string {
	if len(text) < 2 || !strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}
