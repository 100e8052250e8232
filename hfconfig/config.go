package hfconfig

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Config is a typed view of one config object. Its accessors answer with the
// file's value, else the class's default. They do not return errors one by
// one: the first fault is kept and Err reports it, so that a description can
// read twenty fields in twenty words.
type Config struct {
	object gjson.Result
	fields map[string]gjson.Result // members of object; of duplicates the last
	class  *Class
	path   string // where in the file, "" or "text_config."
	faults *faults
}

// New returns the view of a JSON object that Normalise has passed. The model
// type is the object's own; fallbackType is used where it names none.
func New(clean []byte, fallbackType string) (*Config, error) {
	object := gjson.ParseBytes(clean)
	if !object.IsObject() {
		return nil, fmt.Errorf("config is %s, want an object", describe(object))
	}
	return newConfig(object, "", fallbackType, newFaults()), nil
}

func newConfig(object gjson.Result, path, fallbackType string, faults *faults) *Config {
	c := &Config{object: object, path: path, faults: faults, fields: make(map[string]gjson.Result)}
	object.ForEach(func(key, value gjson.Result) bool {
		c.fields[key.String()] = unwrapFloat(value)
		return true
	})
	modelType := fallbackType
	if t := c.fields["model_type"]; t.Type == gjson.String && t.Str != "" {
		modelType = t.Str
	}
	c.class = ClassOf(modelType)
	if c.class == nil && modelType != "" {
		c.class = &Class{Type: modelType}
	}
	return c
}

// unwrapFloat resolves the form in which newer configs write numbers that JSON
// lacks: {"__float__": "Infinity"}.
func unwrapFloat(value gjson.Result) gjson.Result {
	if value.IsObject() {
		if f := value.Get("__float__"); f.Type == gjson.String {
			if n, err := strconv.ParseFloat(f.Str, 64); err == nil {
				return gjson.Result{Type: gjson.Number, Raw: f.Str, Num: n, Index: value.Index}
			}
		}
	}
	return value
}

// ModelType returns the config's model_type, or "".
func (c *Config) ModelType() string {
	if c.class == nil {
		return ""
	}
	return c.class.Type
}

// As returns the same config read as another model type.
func (c *Config) As(modelType string) *Config {
	other := *c
	other.class = ClassOf(modelType)
	if other.class == nil {
		other.class = &Class{Type: modelType}
	}
	return &other
}

// Architectures returns the class names that the config gives its checkpoint.
func (c *Config) Architectures() []string {
	value := c.fields["architectures"]
	if value.Type == gjson.String { // seen in the wild; the library iterates its letters
		return []string{value.Str}
	}
	var names []string
	for _, v := range value.Array() {
		if v.Type == gjson.String {
			names = append(names, v.Str)
		}
	}
	return names
}

// Raw returns the member as it stands in the file under this very name.
func (c *Config) Raw(field string) gjson.Result { return c.fields[field] }

// Fields returns the names of the object's members, sorted.
func (c *Config) Fields() []string {
	names := make([]string, 0, len(c.fields))
	for name := range c.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// JSON returns the object's text.
func (c *Config) JSON() string { return c.object.Raw }

// Declares reports whether the class has the field.
func (c *Config) Declares(field string) bool { return c.class.Declares(field) }

// Given reports whether the file holds the field, under any of its names, with
// a value other than null.
func (c *Config) Given(field string) bool {
	v, _, ok := c.stored(field)
	return ok && v.Type != gjson.Null
}

// stored finds the file's own value, null included.
func (c *Config) stored(field string) (value gjson.Result, name string, ok bool) {
	for _, name := range c.class.names(field) {
		if v, ok := c.fields[name]; ok {
			return v, name, true
		}
	}
	return gjson.Result{}, field, false
}

// value finds the file's value, else the class's default.
func (c *Config) value(field string) (v gjson.Result, name string) {
	c.faults.reads(c.path + field)
	if v, name, ok := c.stored(field); ok {
		return v, name
	}
	return c.class.fallback(field), field
}

// Int returns a whole number: the file's, else the class's default. A missing
// or null value is a fault.
func (c *Config) Int(field string) int64 {
	n, ok := c.Nullable(field)
	if !ok {
		switch v, name := c.value(field); {
		case !v.Exists():
			c.fault(name, "missing, and the class has no default for it")
		case v.Type == gjson.Null:
			c.fault(name, "is null, want a whole number")
		}
	}
	return n
}

// Nullable returns a whole number and true, or false where the value is null
// or absent from both file and class: an explicit null is an answer.
func (c *Config) Nullable(field string) (int64, bool) {
	v, name := c.value(field)
	if v.Type == gjson.Null {
		return 0, false
	}
	return c.integer(name, v)
}

// IntOr returns a whole number, or the derived value where file and class
// leave it open (null or absent).
func (c *Config) IntOr(field string, derived int64) int64 {
	if n, ok := c.Nullable(field); ok {
		return n
	}
	return derived
}

// FirstInt returns the first of several fields that the file or the class
// gives a value.
func (c *Config) FirstInt(fields ...string) (int64, bool) {
	for _, field := range fields {
		if n, ok := c.Nullable(field); ok {
			return n, true
		}
	}
	return 0, false
}

// WhyNoInt says why none of several fields gives a whole number: what the file
// has in its place, else that the first is missing.
func (c *Config) WhyNoInt(fields ...string) *FieldError {
	for _, field := range fields {
		if v, name, ok := c.stored(field); ok {
			return &FieldError{Field: c.path + name, Reason: "is " + describe(v) + ", want a whole number"}
		}
	}
	return &FieldError{Field: c.path + fields[0], Reason: "missing, and the class has no default for it"}
}

// GivenInt returns the file's own value, without the class's default.
func (c *Config) GivenInt(field string) (int64, bool) {
	v, name, ok := c.stored(field)
	if !ok || v.Type == gjson.Null {
		return 0, false
	}
	return c.integer(name, v)
}

func (c *Config) integer(name string, v gjson.Result) (int64, bool) {
	if v.Type != gjson.Number {
		c.fault(name, "is %s, want a whole number", describe(v))
		return 0, false
	}
	n, err := strconv.ParseInt(v.Raw, 10, 64)
	if err == nil {
		return n, true
	}
	if errors.Is(err, strconv.ErrRange) {
		c.fault(name, "%s is beyond 64 bits", v.Raw)
		return 0, false
	}
	if f, err := strconv.ParseFloat(v.Raw, 64); err == nil && f == float64(int64(f)) && f < 1<<53 && f > -1<<53 {
		c.refused(name, "is "+describe(v)+", want a whole number (write "+strconv.FormatInt(int64(f), 10)+"); the reference library refuses it")
		return int64(f), true
	}
	c.fault(name, "is %s, want a whole number", describe(v))
	return 0, false
}

// Float returns a number, or the given one where file and class leave it open.
func (c *Config) Float(field string, otherwise float64) float64 {
	v, name := c.value(field)
	switch v.Type {
	case gjson.Null:
		return otherwise
	case gjson.Number:
		return v.Num
	}
	c.fault(name, "is %s, want a number", describe(v))
	return otherwise
}

// Bool returns a switch: the file's, else the class's default, else false.
func (c *Config) Bool(field string) bool { return c.BoolOr(field, false) }

// BoolOr returns a switch, or the given value where file and class leave it
// open.
func (c *Config) BoolOr(field string, otherwise bool) bool {
	v, name := c.value(field)
	switch v.Type {
	case gjson.Null:
		return otherwise
	case gjson.True:
		return true
	case gjson.False:
		return false
	case gjson.Number:
		if v.Num == 0 || v.Num == 1 {
			c.refused(name, "is "+describe(v)+", want true or false (write "+strconv.FormatBool(v.Num == 1)+"); the reference library refuses it")
			return v.Num == 1
		}
	}
	c.fault(name, "is %s, want true or false", describe(v))
	return otherwise
}

// String returns a text: the file's, else the class's default, else "".
func (c *Config) String(field string) string {
	v, name := c.value(field)
	if v.Type == gjson.Null {
		return ""
	}
	if v.Type != gjson.String {
		c.fault(name, "is %s, want a text", describe(v))
		return ""
	}
	return v.Str
}

// Strings returns a list of texts, nil where file and class leave it open.
func (c *Config) Strings(field string) []string {
	v, name := c.value(field)
	if v.Type == gjson.Null {
		return nil
	}
	if !v.IsArray() {
		c.fault(name, "is %s, want a list of texts", describe(v))
		return nil
	}
	var list []string
	for i, item := range v.Array() {
		if item.Type != gjson.String {
			c.fault(fmt.Sprintf("%s[%d]", name, i), "is %s, want a text", describe(item))
			return nil
		}
		list = append(list, item.Str)
	}
	return list
}

// Ints returns a list of whole numbers, nil where file and class leave it open.
func (c *Config) Ints(field string) []int64 {
	v, name := c.value(field)
	if v.Type == gjson.Null {
		return nil
	}
	if !v.IsArray() {
		c.fault(name, "is %s, want a list of whole numbers", describe(v))
		return nil
	}
	list := []int64{}
	for i, item := range v.Array() {
		n, ok := c.integer(fmt.Sprintf("%s[%d]", name, i), item)
		if !ok {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// Value returns the file's or the class's value as JSON, for fields of
// irregular form.
func (c *Config) Value(field string) gjson.Result {
	v, _ := c.value(field)
	return v
}

// Sub returns a nested config. Where the file leaves it out, its class's
// defaults speak alone; Sub returns nil where it is null or not known.
func (c *Config) Sub(field string) *Config {
	v, name := c.value(field)
	nestedType, _ := c.class.nestedType(field)
	switch {
	case v.IsObject():
		return newConfig(v, c.path+name+".", nestedType, c.faults)
	case v.Type != gjson.Null:
		c.fault(name, "is %s, want an object", describe(v))
	case nestedType != "":
		return newConfig(gjson.Parse("{}"), c.path+name+".", nestedType, c.faults)
	}
	return nil
}

// Layers returns the number of layers that the config gives its model, or the
// model of text in it, and a function that reads the same config with another
// number; ok is false where the class has no such field or no number stands in it.
func (c *Config) Layers() (layers int64, with func(int64) *Config, ok bool) {
	const field = "num_hidden_layers"
	if n, ok := c.layers(); ok {
		_, name, _ := c.stored(field)
		return n, func(n int64) *Config { return c.withText(withMember(c.object.Raw, name, n)) }, true
	}
	text := c.fields["text_config"]
	if _, nested := c.class.nestedType("text_config"); !nested || !text.IsObject() {
		return 0, nil, false
	}
	inner := c.Sub("text_config")
	n, ok := inner.layers()
	_, name, _ := inner.stored(field)
	return n, func(n int64) *Config {
		return c.withText(withMember(c.object.Raw, "text_config", withMember(text.Raw, name, n)))
	}, ok
}

// withMember adds a member to an object's text; of members of one name the last counts.
func withMember(object, name string, value any) string {
	body := strings.TrimRight(strings.TrimSuffix(strings.TrimSpace(object), "}"), " \t\r\n")
	comma := ","
	if strings.HasSuffix(body, "{") {
		comma = ""
	}
	return fmt.Sprintf("%s%s%q:%v}", body, comma, name, value)
}

func (c *Config) withText(text string) *Config {
	return newConfig(gjson.Parse(text), c.path, c.ModelType(), newFaults())
}

// NumLabels returns the width of a classification head: num_labels, else the
// length of id2label, else what the class says, else 2, as the reference library
// has it.
func (c *Config) NumLabels() int64 {
	if n, ok := c.GivenInt("num_labels"); ok {
		return n
	}
	if labels := c.fields["id2label"]; labels.IsObject() {
		return int64(len(labels.Map()))
	}
	return c.IntOr("num_labels", 2)
}
