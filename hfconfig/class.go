package hfconfig

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// defaultsTable has one line a model type, sorted: the class's name, its
// attribute aliases, its nested configs and the defaults it declares before
// it completes them (a field that the class computes when it is null or
// absent stands here as null or not at all), and the types that typesTable does
// not tell. Recorded from transformers 5.23.
//
//go:embed defaults.jsonl
var defaultsTable string

// Class is what the reference library knows of a model type before it reads a
// config file. A nil *Class knows nothing and answers accordingly.
type Class struct {
	Type     string            // model_type
	Name     string            // class of the config, such as GPT2Config
	aliases  map[string]string // other name of a field → its name in the class
	nested   map[string]string // field of a nested config → its model_type
	defaults map[string]gjson.Result
	types    map[string]string // declared types that are not those of types.txt
}

// classes indexes the table's lines by model type.
var classLines = sync.OnceValue(func() map[string]string {
	lines := make(map[string]string, 1024)
	for line := range strings.Lines(defaultsTable) {
		lines[gjson.Get(line, "type").String()] = line
	}
	return lines
})

// ClassOf returns the class of a model type, or nil where the type is not known.
func ClassOf(modelType string) *Class {
	line, ok := classLines()[modelType]
	if !ok {
		return nil
	}
	row := gjson.Parse(line)
	class := &Class{
		Type:     modelType,
		Name:     row.Get("class").String(),
		aliases:  stringMap(row.Get("aliases")),
		nested:   stringMap(row.Get("nested")),
		defaults: make(map[string]gjson.Result),
		types:    stringMap(row.Get("types")),
	}
	row.Get("defaults").ForEach(func(key, value gjson.Result) bool {
		class.defaults[key.String()] = value
		return true
	})
	return class
}

// Declares reports whether the class has the field at all. A switch that a
// class does not declare has no effect in it, whatever the file says.
func (c *Class) Declares(field string) bool {
	if c == nil {
		return false
	}
	if real, ok := c.aliases[field]; ok {
		field = real
	}
	_, ok := c.defaults[field]
	return ok
}

// names lists the names under which a file may hold the field, in the order in
// which they win: where a file has an alias beside the class's own name, the
// reference library sets the alias last.
// Fields returns the fields that the class has defaults for, sorted.
func (c *Class) Fields() []string { return slices.Sorted(maps.Keys(c.defaults)) }

func (c *Class) names(field string) []string {
	if c == nil || len(c.aliases) == 0 {
		return []string{field}
	}
	if real, ok := c.aliases[field]; ok {
		field = real
	}
	var names []string
	for alias, real := range c.aliases {
		if real == field {
			names = append(names, alias)
		}
	}
	slices.Sort(names)
	return append(names, field)
}

func (c *Class) fallback(field string) gjson.Result {
	if c == nil {
		return gjson.Result{}
	}
	if real, ok := c.aliases[field]; ok {
		field = real
	}
	return c.defaults[field]
}

// nestedType returns the model type of the config nested in a field; known is
// false where the class has none there.
func (c *Class) nestedType(field string) (modelType string, known bool) {
	if c == nil {
		return "", false
	}
	modelType, known = c.nested[field]
	if d := c.defaults[field]; modelType == "" && d.IsObject() {
		modelType = d.Get("model_type").String()
	}
	return modelType, known
}

func stringMap(object gjson.Result) map[string]string {
	m := make(map[string]string)
	object.ForEach(func(key, value gjson.Result) bool {
		m[key.String()] = value.String()
		return true
	})
	return m
}
