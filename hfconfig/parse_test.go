package hfconfig

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name, text   string
		line, column int
		reason       string
	}{
		{"empty", "", 0, 0, "file is empty"},
		{"white space", " \n\t", 0, 0, "white space only"},
		{"list", "[1,2]", 1, 1, "file is a list, want an object"},
		{"text", `"llama"`, 1, 1, `file is the text "llama", want an object`},
		{"null", "null", 1, 1, "file is null, want an object"},
		{"number", "\n 5", 2, 2, "file is the number 5, want an object"},
		{"NaN alone", "NaN", 1, 1, "file is the number NaN, want an object"},
		{"UTF-16", "\xff\xfe{\x00}\x00", 0, 0, "UTF-16"},
		{"UTF-16 without mark", "{\x00}\x00", 0, 0, "UTF-16"},
		{"not UTF-8", "{\"a\": \"\xff\"}", 1, 8, "byte 0xff is not UTF-8"},
		{"cut off in text", `{"a": 1, "tie_wor`, 1, 10, "no end"},
		{"cut off in object", "{\n\"a\": 1", 2, 7, "file ends inside the object that begins in line 1"},
		{"cut off in list", `{"a": [1, 2`, 1, 12, "file ends inside the list"},
		{"cut off after colon", `{"a":`, 1, 6, "file ends inside the object"},
		{"cut off after name", `{"a"`, 1, 5, "file ends inside the object"},
		{"cut off after comma", `{"a":1,`, 1, 8, "file ends inside the object"},
		{"comma before end", "{\"a\": 1,\n}", 1, 8, "comma before the end of the object"},
		{"comma in list", `{"a": [1,]}`, 1, 9, "comma before the end of the list"},
		{"missing comma", "{\"a\": 1\n \"b\": 2}", 2, 2, "a text, want a comma or the end of the object"},
		{"comment", "{\n  // size\n  \"a\": 1}", 2, 3, "a comment, which JSON does not have"},
		{"comment first", "// hi\n{}", 1, 1, "a comment"},
		{"hash comment", "{\"a\": 1 # n\n}", 1, 9, "a comment"},
		{"single quotes", "{'a': 1}", 1, 2, "single quote"},
		{"bare name", "{a: 1}", 1, 2, "the word a, want a name in double quotes"},
		{"Python", `{"a": True}`, 1, 7, "True is Python, JSON wants true"},
		{"word", `{"a": yes}`, 1, 7, "the word yes, want a value"},
		{"+Infinity", `{"a": +Infinity}`, 1, 7, "want a value"},
		{"leading zero", `{"a": 010}`, 1, 7, "leading zero"},
		{"no fraction", `{"a": 1.}`, 1, 7, "without a digit after its point"},
		{"no exponent", `{"a": 1e}`, 1, 7, "without a digit in its exponent"},
		{"minus", `{"a": -}`, 1, 7, "minus sign without a number"},
		{"bad escape", `{"a": "\x41"}`, 1, 8, "not an escape"},
		{"short escape", `{"a": "\u12"}`, 1, 8, "not an escape"},
		{"line break in text", "{\"a\": \"x\ny\"}", 1, 9, "control character 0x0a"},
		{"two documents", "{}\n{}", 2, 1, "after the end of the value"},
		{"characters, not bytes", `{"é": '1'}`, 1, 7, "single quote"},
		{"git-lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", 0, 0, "git-lfs pointer"},
		{"HTML", "\n<!DOCTYPE html><html>", 0, 0, "HTML page"},
		{"XML", "<?xml version=\"1.0\"?><Error/>", 0, 0, "XML"},
		{"gzip", "\x1f\x8b\x08\x00", 0, 0, "gzip"},
		{"zip", "PK\x03\x04", 0, 0, "zip archive"},
		{"safetensors", "\x10\x00\x00\x00\x00\x00\x00\x00{\"a\":{}}", 0, 0, "safetensors file"},
		{"binary", "\x01\x02\x03", 1, 1, "unprintable"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := Parse([]byte(test.text))
			var e *ParseError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *ParseError", err)
			}
			if e.Line != test.line || e.Column != test.column || !strings.Contains(e.Reason, test.reason) {
				t.Errorf("got %d:%d %q, want %d:%d %q", e.Line, e.Column, e.Reason, test.line, test.column, test.reason)
			}
		})
	}
}

func TestParseBoundsNesting(t *testing.T) {
	const deep = 1_000_000
	for _, open := range []string{"[", `{"a":`} {
		data := []byte(`{"x":` + strings.Repeat(open, deep))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Parse(data)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "nested more than 1000 deep") {
			t.Errorf("%s: got %v", open, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 2*uint64(len(data))+1<<20 {
			t.Errorf("%s: %d bytes allocated for %d", open, used, len(data))
		}
	}
}

func TestParseRefusesSize(t *testing.T) {
	if _, _, err := Parse(make([]byte, MaxSize+1)); err == nil || !strings.Contains(err.Error(), "more than the") {
		t.Errorf("got %v", err)
	}
}

func TestParseForgives(t *testing.T) {
	const text = "\xef\xbb\xbf{\n \"a\": NaN, \"b\": [1, -Infinity, {\"c\": Infinity}],\n \"n\": {\"d\": 1, \"d\": 2}, \"a\": 3}\n"
	c, notices, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range notices {
		got = append(got, fmt.Sprintf("%d:%d %s %s %v", n.Line, n.Column, n.Kind, n.Field, n.Refused))
	}
	want := []string{
		"1:1 byte_order_mark  true",
		"2:7 non_finite_number a false",
		"2:21 non_finite_number b[1] false",
		"2:38 non_finite_number b[2].c false",
		"3:16 duplicate_key n.d false",
		"3:25 duplicate_key a false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got notices\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c.JSON() != strings.TrimPrefix(text, "\xef\xbb\xbf") {
		t.Errorf("text has changed: %q", c.JSON())
	}
	if n := c.Int("a"); n != 3 {
		t.Errorf("a = %d, want the last value", n)
	}
	if n := c.Sub("n").Int("d"); n != 2 {
		t.Errorf("n.d = %d, want the last value", n)
	}
	if list := c.Value("b").Array(); len(list) != 3 || !math.IsInf(list[1].Num, -1) || !math.IsInf(list[2].Get("c").Num, 1) {
		t.Errorf("b = %v", list)
	}
}

func TestNonFiniteNumbers(t *testing.T) {
	c := mustParse(t, `{"nan": NaN, "inf": Infinity, "neg": -Infinity, "new": {"__float__": "Infinity"}, "huge": 1e999, "text": "NaN"}`)
	for field, ok := range map[string]func(float64) bool{
		"nan":  math.IsNaN,
		"inf":  func(f float64) bool { return math.IsInf(f, 1) },
		"neg":  func(f float64) bool { return math.IsInf(f, -1) },
		"new":  func(f float64) bool { return math.IsInf(f, 1) },
		"huge": func(f float64) bool { return math.IsInf(f, 1) },
	} {
		if f := c.Float(field, 5); !ok(f) {
			t.Errorf("%s = %v", field, f)
		}
		c.Int(field)
	}
	want := []string{"NaN, want a whole", "Infinity, want a whole", "1e999, want a whole"}
	for _, reason := range want {
		if !strings.Contains(fmt.Sprint(c.Faults()), reason) {
			t.Errorf("no fault %q in %v", reason, c.Faults())
		}
	}
	if c.Float("text", 5); !strings.Contains(fmt.Sprint(c.Faults()), `field text: is the text "NaN"`) {
		t.Errorf("a text passed for a number: %v", c.Faults())
	}
}

func TestNoticesAreBounded(t *testing.T) {
	_, notices, err := Parse([]byte(`{"a":[` + strings.Repeat("NaN,", 1000) + `0]}`))
	if err != nil {
		t.Fatal(err)
	}
	last := notices[len(notices)-1]
	if len(notices) != mostNotices+1 || last.Kind != MoreNotices || last.Message != "further notices left out: 950" {
		t.Errorf("got %d notices, the last %+v", len(notices), last)
	}
}

func mustParse(t testing.TB, text string) *Config {
	t.Helper()
	c, _, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func BenchmarkParse(b *testing.B) {
	var big strings.Builder
	big.WriteString(`{"model_type": "llama", "hidden_size": 4096, "quantization": {"bits": 4, "group_size": 64`)
	for i := range 1000 {
		fmt.Fprintf(&big, ",\n  \"model.layers.%d.self_attn.q_proj\": {\"bits\": 8, \"group_size\": 64}", i)
	}
	big.WriteString("}}")
	for name, data := range map[string][]byte{
		"small": readTestdata(b, "broken/config-nested-text-config.json"),
		"large": []byte(big.String()),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestManyMembers: time and memory of a config are bounded by its members too.
func TestManyMembers(t *testing.T) {
	text := func(members int) []byte {
		var b strings.Builder
		b.WriteString(`{"model_type":"llama"`)
		for i := 1; i < members; i++ {
			fmt.Fprintf(&b, `,"a_field_%d":%d`, i, i)
		}
		b.WriteString("}")
		return []byte(b.String())
	}
	c, _, err := Parse(text(mostMembers))
	if err != nil {
		t.Fatal(err)
	}
	c.Check()
	if meant := c.Misspelt(); len(meant) != 0 {
		t.Errorf("%d fields are misspelt", len(meant))
	}
	if _, _, err := Parse(text(mostMembers + 1)); err == nil || !strings.Contains(err.Error(), "more than 300000 members") {
		t.Errorf("error %v", err)
	}
}
