package report

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Style is how text is laid out. The zero value is for a pipe: no colour, no
// limit to the width.
type Style struct {
	Width int  // columns; 0 is no limit
	Color bool // ANSI colours
}

// line is a row of a table of a label, a number and a remark, or free text.
type line struct {
	label, number, remark string
	free                  string // printed as it is, when not empty
	strong                bool
	math                  bool // the remark is a formula
}

// table lays lines out: labels to the left, numbers to the right.
type table struct {
	lines  []line
	indent string
	wraps  bool // long remarks go on in further lines; else they are cut

	columns [3]string // names in Markdown, which wants a head
}

func (t *table) add(label, number, remark string) {
	t.lines = append(t.lines, line{label: label, number: number, remark: remark})
}

func (t *table) strong(label, number, remark string) {
	t.lines = append(t.lines, line{label: label, number: number, remark: remark, strong: true})
}

// heading puts a line above a group of rows.
func (t *table) heading(text string) { t.lines = append(t.lines, line{free: t.indent + text}) }

func (t *table) blank() { t.lines = append(t.lines, line{free: " "}) }

// width returns the widths of the first two columns.
func (t *table) widths() (label, number int) {
	for _, l := range t.lines {
		if l.free == "" {
			label = max(label, utf8.RuneCountInString(l.label))
			number = max(number, utf8.RuneCountInString(l.number))
		}
	}
	return label, number
}

// fits reports whether no line is longer than width with columns of these widths,
// or whether long ones go on in further lines.
func (t *table) fits(width, label, number int) bool {
	if width <= 0 || t.wraps {
		return true
	}
	columns := len(t.indent) + label + 2 + number + 3
	return !slices.ContainsFunc(t.lines, func(l line) bool { return columns+utf8.RuneCountInString(l.remark) > width })
}

func (t *table) write(w io.Writer, style Style) {
	label, number := t.widths()
	t.writeAt(w, style, label, number)
}

func (t *table) writeAt(w io.Writer, style Style, label, number int) {
	for _, l := range t.lines {
		if l.free != "" {
			io.WriteString(w, strings.TrimRight(l.free, " ")+"\n")
			continue
		}
		text := t.indent + pad(Safe(l.label), label) + "  " + left(l.number, number)
		if l.remark != "" {
			text = beside(text+"   ", Safe(l.remark), t.wraps, style.Width)
		}
		if text = strings.TrimRight(text, " "); !t.wraps {
			text = clip(text, style.Width)
		}
		if l.strong && style.Color {
			text = "\x1b[1m" + text + "\x1b[0m"
		}
		io.WriteString(w, text+"\n")
	}
}

// beside puts a remark next to the columns before it, in several lines where
// there is room for some words in each.
func beside(text, remark string, wraps bool, width int) string {
	const leastRoom = 16
	start := utf8.RuneCountInString(text)
	if !wraps || width <= 0 || start+utf8.RuneCountInString(remark) <= width {
		return text + remark
	}
	if width-start < leastRoom {
		return strings.TrimRight(text, " ") + "\n" + wrap("      "+remark, width, "      ")
	}
	return text + strings.ReplaceAll(wrap(remark, width-start, ""), "\n", "\n"+strings.Repeat(" ", start))
}

// pad fills text with spaces on the right.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// left fills text with spaces on the left.
func left(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))) + text
}

// clip cuts text to a width.
func clip(text string, width int) string {
	if width <= 0 || utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(0, width-1)]) + "…"
}

// wrap breaks text at spaces into lines of at most width columns. The text's own
// first spaces are kept; lines after the first get the given indent.
func wrap(text string, width int, indent string) string {
	if width <= 0 || utf8.RuneCountInString(text) <= width {
		return text
	}
	var lines []string
	current := text[:len(text)-len(strings.TrimLeft(text, " "))]
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, current)
			current, empty = indent, true
		}
		if !empty {
			current += " "
		}
		current += word
		empty = false
	}
	return strings.Join(append(lines, current), "\n")
}
