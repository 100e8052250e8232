package hfconfig

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// typesTable has one line a field: its name and the type that most classes which
// have it declare for it, in Python's words: int, bool, float, str, dict, list,
// [int] for a list of whole numbers, a quoted word for itself, alternatives apart
// by "|". Where a class differs, or has no default on record for a field that it
// types, its line in defaults.jsonl says so. Recorded from transformers 5.23,
// which holds every field of a file against its type.
//
//go:embed types.txt
var typesTable string

var commonTypes = sync.OnceValue(func() map[string]string {
	types := make(map[string]string, 4096)
	for line := range strings.Lines(typesTable) {
		name, declared, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		types[name] = declared
	}
	return types
})

// declared returns the type that the class declares for a member of a file under
// this very name, "" where it takes anything: an alias is not checked.
func (c *Class) declared(name string) string {
	if c == nil {
		return ""
	}
	if own, ok := c.types[name]; ok {
		return own
	}
	if _, ok := c.defaults[name]; ok {
		return commonTypes()[name]
	}
	return ""
}

// TakesList reports whether the class takes a list for the field: one value for
// each layer, mostly. A class that is not known takes anything.
func (c *Config) TakesList(field string) bool {
	names := c.class.names(field)
	declared := c.class.declared(names[len(names)-1])
	return declared == "" || strings.Contains(declared, "[") || strings.Contains(declared, "list")
}

// checkTypes holds the members of the file against the types that the class
// declares. The reference library does so when it reads a config.
func (c *Config) checkTypes() {
	typed := make(map[string]string)
	for name := range c.fields {
		if declared := c.class.declared(name); declared != "" {
			typed[name] = declared
		}
	}
	for _, name := range slices.Sorted(maps.Keys(typed)) {
		if at, v, wanted := misfit(name, c.fields[name], typed[name]); wanted != "" {
			c.refused(at, "is "+describe(v)+", want "+words(wanted)+instead(v, wanted)+"; the reference library refuses it")
		}
	}
}

// misfit finds the value that is not of the declared type, within a list the
// first such item. wanted is "" where all is well.
func misfit(name string, v gjson.Result, declared string) (at string, odd gjson.Result, wanted string) {
	if admits(declared, v) {
		return "", v, ""
	}
	if v.IsArray() {
		for one := range alternatives(declared) {
			if items, ok := strings.CutPrefix(one, "["); ok {
				return misfitItem(name, v, strings.TrimSuffix(items, "]"))
			}
		}
	}
	return name, v, declared
}

func misfitItem(name string, list gjson.Result, declared string) (at string, odd gjson.Result, wanted string) {
	i := 0
	list.ForEach(func(_, item gjson.Result) bool {
		at, odd, wanted = misfit(name+"["+strconv.Itoa(i)+"]", unwrapFloat(item), declared)
		i++
		return wanted == ""
	})
	return at, odd, wanted
}

// admits reports whether the value is of the declared type.
func admits(declared string, v gjson.Result) bool {
	for one := range alternatives(declared) {
		if admitsOne(one, v) {
			return true
		}
	}
	return false
}

func admitsOne(declared string, v gjson.Result) bool {
	switch declared {
	case "null":
		return v.Type == gjson.Null
	case "bool":
		return v.Type == gjson.True || v.Type == gjson.False
	case "int":
		return v.Type == gjson.Number && isWhole(v.Raw)
	case "float":
		return v.Type == gjson.Number && !isWhole(v.Raw)
	case "str":
		return v.Type == gjson.String
	case "dict":
		return v.IsObject()
	case "list":
		return v.IsArray()
	}
	if items, ok := strings.CutPrefix(declared, "["); ok && v.IsArray() {
		_, _, wanted := misfitItem("", v, strings.TrimSuffix(items, "]"))
		return wanted == ""
	}
	return v.Type == gjson.String && declared == `"`+v.Str+`"`
}

// isWhole reports whether Python reads the number as an int: 1.0 and 1e3 are
// floats to it.
func isWhole(raw string) bool {
	return digits(strings.TrimPrefix(raw, "-")) == len(strings.TrimPrefix(raw, "-"))
}

// alternatives yields the types between the bars that stand outside brackets.
func alternatives(declared string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		depth, begin := 0, 0
		for i := range len(declared) {
			switch declared[i] {
			case '[':
				depth++
			case ']':
				depth--
			case '|':
				if depth == 0 {
					if !yield(declared[begin:i]) {
						return
					}
					begin = i + 1
				}
			}
		}
		yield(declared[begin:])
	}
}

// words says a declared type in English.
func words(declared string) string {
	names := map[string]string{"null": "null", "bool": "true or false", "int": "a whole number", "float": "a number with a decimal point",
		"str": "a text", "dict": "an object", "list": "a list"}
	items := map[string]string{"bool": "switches", "int": "whole numbers", "float": "numbers with a decimal point", "str": "texts", "dict": "objects"}
	numbers := strings.NewReplacer("float|int", "number", "int|float", "number").Replace(declared)
	names["number"], items["number"] = "a number", "numbers"
	var said []string
	for one := range alternatives(numbers) {
		inner, isList := strings.CutPrefix(one, "[")
		kind, plain := items[strings.TrimSuffix(inner, "]")]
		switch {
		case isList && plain:
			said = append(said, "a list of "+kind)
		case isList:
			said = append(said, "a list of lists")
		case names[one] != "":
			said = append(said, names[one])
		default:
			said = append(said, one)
		}
	}
	return strings.Join(said, " or ")
}

// instead says how to write a number, where its value would do.
func instead(v gjson.Result, wanted string) string {
	if v.Type != gjson.Number {
		return ""
	}
	for _, text := range []string{v.Raw + ".0", strconv.FormatFloat(v.Num, 'f', -1, 64)} {
		if n, err := strconv.ParseFloat(text, 64); err == nil && n == v.Num && len(text) < 20 && admits(wanted, gjson.Parse(text)) {
			return " (write " + text + ")"
		}
	}
	return ""
}
