package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// grid is rows of cells under a head, written in any of the formats that are
// not JSON.
type grid struct {
	columns []string // those whose name ends in ":" hold numbers
	rows    [][]string
}

func (g *grid) write(w io.Writer, format string) error {
	switch format {
	case "csv":
		c := newCells(w)
		head := make([]string, len(g.columns))
		for i, name := range g.columns {
			head[i] = strings.TrimSuffix(name, ":")
		}
		c.Write(head)
		c.WriteAll(g.rows)
		return c.Error()
	case "markdown":
		m := &markdown{w: w}
		m.head(append([]string(nil), g.columns...)...)
		for _, row := range g.rows {
			m.row(append([]string(nil), row...)...)
		}
		return m.err
	}
	return g.text(w)
}

// writeHeaded is write with the column names above the text, too.
func (g *grid) writeHeaded(w io.Writer, format string) error {
	if format == "text" && len(g.rows) > 0 {
		head := make([]string, len(g.columns))
		for i, name := range g.columns {
			head[i] = strings.TrimSuffix(name, ":")
		}
		g.rows = append([][]string{head}, g.rows...)
	}
	return g.write(w, format)
}

func (g *grid) text(w io.Writer) error {
	widths := make([]int, len(g.columns))
	for _, row := range g.rows {
		for i, c := range row {
			widths[i] = max(widths[i], len([]rune(c)))
		}
	}
	for _, row := range g.rows {
		parts := make([]string, len(row))
		for i, c := range row {
			if strings.HasSuffix(g.columns[i], ":") {
				parts[i] = left(c, widths[i])
			} else {
				parts[i] = pad(c, widths[i])
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(parts, "  "), " ")); err != nil {
			return err
		}
	}
	return nil
}

// fitted is writeHeaded without empty columns, and at a terminal without those
// that find no room: the first that may go goes first.
func (g *grid) fitted(w io.Writer, format string, style Style, mayGo ...string) error {
	for i := len(g.columns) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(g.rows, func(row []string) bool { return row[i] != "" }) {
			g.drop(i)
		}
	}
	var gone []string
	for _, name := range mayGo {
		if format != "text" || style.Width <= 0 || g.width() <= style.Width {
			break
		}
		if i := slices.Index(g.columns, name); i >= 0 {
			g.drop(i)
			gone = append(gone, strings.TrimSuffix(name, ":"))
		}
	}
	if err := g.writeHeaded(w, format); err != nil || gone == nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\n"+wrap(fmt.Sprintf("  no room in %d columns: %s; --format csv has all", style.Width, strings.Join(gone, ", ")), style.Width, "  "))
	return err
}

func (g *grid) drop(at int) {
	g.columns = slices.Delete(g.columns, at, at+1)
	for i := range g.rows {
		g.rows[i] = slices.Delete(g.rows[i], at, at+1)
	}
}

// width is that of the lines of text.
func (g *grid) width() int {
	sum := 2 * (len(g.columns) - 1)
	for i, name := range g.columns {
		most := utf8.RuneCountInString(strings.TrimSuffix(name, ":"))
		for _, row := range g.rows {
			most = max(most, utf8.RuneCountInString(row[i]))
		}
		sum += most
	}
	return sum
}

// sheet is rows of named cells for a spreadsheet. A column is there if any row
// has it; numbers are plain, and the names of their columns end in the unit.
type sheet struct {
	columns []string
	rows    []map[string]string
}

// row begins another row.
func (s *sheet) row() { s.rows = append(s.rows, make(map[string]string)) }

// set fills a cell of the last row.
func (s *sheet) set(column string, value any) {
	if !slices.Contains(s.columns, column) {
		s.columns = append(s.columns, column)
	}
	text := fmt.Sprint(value)
	if f, ok := value.(float64); ok {
		text = plainFloat(f)
	}
	s.rows[len(s.rows)-1][column] = text
}

// field is a cell with the name of its column.
type field struct {
	name  string
	value any
}

// fill sets several cells of the last row.
func (s *sheet) fill(fields []field) {
	for _, f := range fields {
		s.set(f.name, f.value)
	}
}

func (s *sheet) write(w io.Writer) error {
	c := newCells(w)
	c.Write(s.columns)
	for _, row := range s.rows {
		cells := make([]string, len(s.columns))
		for i, name := range s.columns {
			cells[i] = row[name]
		}
		c.Write(cells)
	}
	c.Flush()
	return c.Error()
}

// columnName turns a name into part of a column's: "attention output" is
// attention_output.
func columnName(name string) string {
	words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(name), "²", "2"), func(r rune) bool {
		return r == ' ' || r == ',' || r == '-' || r == '+' || r == '(' || r == ')' || r == '_'
	})
	return strings.Join(words, "_")
}
