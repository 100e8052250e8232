package hfconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"
)

// faults are what a config and the configs nested in it have met, each once.
type faults struct {
	list []error
	seen map[string]*FieldError // by field: one is enough to mend it
	read map[string]bool        // paths of the fields asked for
}

func newFaults() *faults { return &faults{seen: make(map[string]*FieldError)} }

// Err returns the faults met by the accessors so far that left a field without
// a value, joined; nil if none.
func (c *Config) Err() error {
	var fatal []error
	for _, fault := range c.faults.list {
		if field, ok := errors.AsType[*FieldError](fault); !ok || !field.Usable {
			fatal = append(fatal, fault)
		}
	}
	return errors.Join(fatal...)
}

// Faults returns the faults one by one, in the order in which they were met.
func (c *Config) Faults() []error { return c.faults.list }

func (c *Config) fault(field, format string, args ...any) {
	c.record(&FieldError{Field: c.path + field, Reason: fmt.Sprintf(format, args...)})
}

func (c *Config) record(err *FieldError) {
	if known, ok := c.faults.seen[err.Field]; ok {
		known.Usable = known.Usable && err.Usable
		return
	}
	c.faults.seen[err.Field] = err
	c.faults.list = append(c.faults.list, err)
}

// Fault records that the field's value cannot be used, for a reason that only
// its reader knows (a hidden size that heads do not divide).
func (c *Config) Fault(field, format string, args ...any) { c.fault(field, format, args...) }

// FieldError says which field of a config cannot be used and why.
type FieldError struct {
	Field  string // path, such as text_config.hidden_size
	Reason string
	Usable bool // the value is not in doubt, though the reference library refuses its form
}

func (e *FieldError) Error() string { return "config field " + e.Field + ": " + e.Reason }

// describe names a JSON value's kind for an error.
func describe(v gjson.Result) string {
	switch {
	case !v.Exists():
		return "missing"
	case v.IsArray():
		return "a list"
	case v.IsObject():
		return "an object"
	case v.Type == gjson.String:
		return fmt.Sprintf("the text %q", shorten(v.Str))
	case v.Type == gjson.True || v.Type == gjson.False:
		return "the switch " + v.Raw
	case v.Type == gjson.Null:
		return "null"
	}
	return "the number " + shorten(v.Raw)
}

func shorten(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// reads notes that a field was asked for.
func (f *faults) reads(field string) {
	if f.read == nil {
		f.read = make(map[string]bool)
	}
	f.read[field] = true
}

// Read returns the paths of the fields that were asked for so far, sorted: those
// on which what was made of the config can depend.
func (c *Config) Read() []string { return slices.Sorted(maps.Keys(c.faults.read)) }
