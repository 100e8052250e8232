package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is a part of a result that moved.
type Change struct {
	Path string `json:"path"`          // such as counts.unique_parameters
	Old  string `json:"old,omitempty"` // JSON; "" where it was not there
	New  string `json:"new,omitempty"` // JSON; "" where it is no longer there
}

// changes compares two results. What the old one does not have at all, since it
// was kept by a program that did not tell it, is no change; a row or a finding
// that it does not have is one.
func changes(old, new []byte) ([]Change, error) {
	a, err := decode(old)
	if err != nil {
		return nil, err
	}
	b, err := decode(new)
	if err != nil {
		return nil, err
	}
	var d differ
	d.compare("", a, b, false)
	return d.list, nil
}

func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // large numbers to the last digit
	err = d.Decode(&v)
	return v, err
}

type differ struct{ list []Change }

func (d *differ) note(path string, old, new any) {
	d.list = append(d.list, Change{path, show(old), show(new)})
}

// show writes a value as JSON, and what is absent as nothing.
func show(v any) string {
	if v == absent {
		return ""
	}
	text, _ := json.Marshal(v) // it was JSON before
	return string(text)
}

// absent stands for a value that is not there.
var absent any = struct{ absent bool }{true}

func (d *differ) compare(path string, old, new any, strict bool) {
	switch a := old.(type) {
	case map[string]any:
		if b, ok := new.(map[string]any); ok {
			d.objects(path, a, b, strict)
			return
		}
	case []any:
		if b, ok := new.([]any); ok && (ofObjects(a) || ofObjects(b)) {
			d.lists(path, a, b)
			return
		}
	}
	if show(old) != show(new) {
		d.note(path, old, new)
	}
}

func (d *differ) objects(path string, a, b map[string]any, strict bool) {
	keys := slices.Collect(maps.Keys(a))
	if strict {
		keys = slices.AppendSeq(keys, maps.Keys(b))
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		d.compare(strings.TrimPrefix(path+"."+key, "."), field(a, key), field(b, key), strict)
	}
}

func field(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return absent
}

func ofObjects(list []any) bool {
	if len(list) == 0 {
		return false
	}
	_, ok := list[0].(map[string]any)
	return ok
}

// lists compares rows or findings, element by element of the same name.
func (d *differ) lists(path string, a, b []any) {
	old, order := byName(a, nil)
	new, order := byName(b, order)
	for _, name := range order {
		x, y := field(old, name), field(new, name)
		at := path + "[" + name + "]"
		if x == absent || y == absent {
			d.note(at, x, y)
		} else {
			d.compare(at, x, y, true)
		}
	}
}

// byName names the elements of a list by their codes, and numbers those of one
// code; order goes on with the names that are new to it.
func byName(list []any, order []string) (named map[string]any, _ []string) {
	named = map[string]any{}
	for _, element := range list {
		base := name(element)
		unique := base
		for n := 2; ; n++ {
			if _, taken := named[unique]; !taken {
				break
			}
			unique = fmt.Sprintf("%s#%d", base, n)
		}
		named[unique] = element
		if !slices.Contains(order, unique) {
			order = append(order, unique)
		}
	}
	return named, order
}

// name is what an element is called in a path.
func name(element any) string {
	object, _ := element.(map[string]any)
	var parts []string
	for _, key := range []string{"stage", "code", "file"} {
		if text, ok := object[key].(string); ok {
			parts = append(parts, text)
		}
	}
	if tensors, ok := object["tensors"].([]any); ok && object["stage"] == nil && len(tensors) > 0 {
		parts = append(parts, fmt.Sprint(tensors[0]))
	}
	return strings.Join(parts, " ")
}
