package hfconfig

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// matchRule says what an entry of a list of modules means; the methods differ.
type matchRule int

const (
	matchConvert matchRule = iota // transformers: prefix up to a dot as a regular expression, or suffix
	matchTarget                   // compressed-tensors: the name itself, or re: and an expression from the start
	matchGlob                     // modelopt, quark: shell pattern, or a module above
	matchInside                   // awq: found anywhere in the name
	matchExact                    // the name itself, or a module above
	matchRegexp                   // gptq's dynamic: an expression from the start
)

// matcher is one entry of a list of modules.
type matcher struct {
	rule matchRule
	text string
	re   *pattern // nil where the text means itself
}

// matcher reads an entry; one that cannot be read is noted as a fault of the
// field and stands for itself.
func (c *Config) matcher(field, text string, rule matchRule) matcher {
	m := matcher{rule: rule, text: text}
	var err error
	switch {
	case hasPrefix(text, "re:") && rule != matchInside:
		m.rule = matchRegexp
		m.re, err = compilePattern(text[3:])
	case rule == matchRegexp, rule == matchConvert && !isPlain(text):
		m.re, err = compilePattern(text)
	case rule == matchGlob && strings.ContainsAny(text, "*?["):
		m.re, err = compileGlob(text)
	}
	if err != nil {
		c.record(&FieldError{Field: c.path + field, Reason: err.Error(), Usable: true})
		m.re = nil
	}
	return m
}

func (m matcher) matches(name string) bool {
	switch m.rule {
	case matchTarget:
		return name == m.text
	case matchRegexp:
		return m.re != nil && m.re.matches(name)
	case matchInside:
		return m.text != "" && strings.Contains(name, m.text)
	case matchGlob:
		if m.re != nil {
			return m.re.fullMatches(name)
		}
		return isOrUnder(name, m.text)
	case matchExact:
		return isOrUnder(name, m.text)
	}
	return m.converts(name)
}

func isOrUnder(name, module string) bool {
	rest, ok := strings.CutPrefix(name, module)
	return ok && (rest == "" || rest[0] == '.')
}

// converts is transformers' rule for an entry that is an expression: from the
// start up to a dot. As a plain text the entry is a suffix too.
func (m matcher) converts(name string) bool {
	if strings.HasSuffix(name, m.text) { // an empty entry is a suffix of every name
		return true
	}
	if m.re == nil || !m.re.matches(name) {
		return false
	}
	for end := 1; end <= len(name); end++ {
		if (end == len(name) || name[end] == '.' || name[end-1] == '.') && m.re.fullMatches(name[:end]) {
			return true
		}
	}
	return false
}

// override is a module's own scheme.
type override struct {
	scheme Scheme
	skip   bool
}

// Skips reports whether the config leaves a module alone. The name is the
// module's, without .weight.
func (q *Quantization) Skips(module string) bool {
	if o := q.override(module); o != nil {
		return o.skip
	}
	if _, listed := q.skips.find(module); listed {
		return true
	}
	return q.keepsHead() && isHead(module)
}

func (q *Quantization) override(module string) *override {
	if i, ok := q.overridden.find(module); ok {
		return &q.overrides[i]
	}
	return nil
}

// For returns a linear module's scheme, or false where the module is left alone.
func (q *Quantization) For(module string) (Scheme, bool) {
	if q.Skips(module) {
		return Scheme{}, false
	}
	if o := q.override(module); o != nil {
		return o.scheme, true
	}
	class := -1
	for i, g := range q.Groups {
		if _, named := g.named.find(module); named {
			return g.Scheme, true
		}
		if class < 0 && contains(g.Targets, "Linear") {
			class = i
		}
	}
	switch {
	case class >= 0 && q.Method == "compressed-tensors":
		return q.Groups[class].Scheme, true
	case q.only:
		return Scheme{}, false
	}
	return q.Scheme, true
}

// LeavesOut reports whether nothing in the config has a module quantised: a list
// or an override says so, or no group is for it. Groups for classes other than
// Linear may be for any.
func (q *Quantization) LeavesOut(module string) bool {
	if _, ok := q.For(module); ok {
		return false
	}
	return q.Skips(module) || !slices.ContainsFunc(q.Groups, func(g SchemeGroup) bool { return slices.ContainsFunc(g.Targets, isClass) })
}

// keepsHead reports whether the output head stays as it is without being
// listed: in transformers where there is no list at all, in gptq and awq unless
// the config says otherwise.
func (q *Quantization) keepsHead() bool {
	switch q.Method {
	case "mlx", "compressed-tensors", "modelopt", "quark", "":
		return false
	case "gptq", "auto-round":
		return !q.Fields.flag("lm_head")
	case "awq":
		return true
	}
	return !q.listed
}

func isHead(module string) bool {
	last := module[strings.LastIndexByte(module, '.')+1:]
	return last == "lm_head" || last == "embed_out"
}

// readSkips collects the lists of modules that are left alone.
func (q *Quantization) readSkips(f *Config) {
	rule := q.skipRule()
	for _, field := range []string{"modules_to_not_convert", "llm_int8_skip_modules", "ignore", "ignored_layers",
		"exclude_modules", "exclude", "skip_modules", "linear_weights_not_to_quantize"} {
		if v := f.fields[field]; !v.Exists() || v.Type == gjson.Null {
			continue
		}
		q.listed = true
		for _, text := range f.list(field) {
			q.NotConverted = append(q.NotConverted, text)
			if field == "linear_weights_not_to_quantize" {
				text = strings.TrimSuffix(text, ".weight")
			}
			q.skips.add(f.matcher(field, text, rule))
		}
	}
}

func (q *Quantization) skipRule() matchRule {
	switch {
	case q.Method == "compressed-tensors":
		return matchTarget
	case q.Method == "modelopt", q.Method == "quark", q.Algo != "":
		return matchGlob
	case q.Method == "awq":
		return matchInside
	case q.Method == "aqlm":
		return matchExact
	}
	return matchConvert
}
