package record

import (
	"bytes"
	"encoding/json"
)

// layout lays compact JSON out for people who read differences: objects down to
// a depth of two have a line for each field, and lists of objects a line for
// each element.
func layout(compact []byte) []byte {
	l := layouter{in: compact}
	l.value(0)
	l.out.WriteByte('\n')
	return l.out.Bytes()
}

type layouter struct {
	in  []byte
	out bytes.Buffer
}

// value writes the value that begins here; depth counts what it is in.
func (l *layouter) value(depth int) {
	open := l.in[0]
	spread := open == '{' && depth < 2 || open == '[' && len(l.in) > 1 && l.in[1] == '{'
	if !spread || l.in[1] == '}' {
		l.copy()
		return
	}
	l.take(1)
	for {
		l.line(depth + 1)
		if open == '{' {
			l.copy() // the key
			l.take(1)
			l.out.WriteByte(' ')
		}
		l.value(depth + 1)
		if l.in[0] != ',' {
			break
		}
		l.take(1)
	}
	l.line(depth)
	l.take(1)
}

func (l *layouter) line(depth int) {
	l.out.WriteByte('\n')
	l.out.Write(bytes.Repeat([]byte("  "), depth))
}

func (l *layouter) take(n int) {
	l.out.Write(l.in[:n])
	l.in = l.in[n:]
}

// copy takes a whole value as it is.
func (l *layouter) copy() {
	d := json.NewDecoder(bytes.NewReader(l.in))
	var value json.RawMessage
	if d.Decode(&value) != nil {
		return // it was JSON before
	}
	l.take(int(d.InputOffset()))
}
