package hfconfig

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

func (a *Adapter) readTargets(f *Config) {
	switch v := f.fields["target_modules"]; {
	case v.Type == gjson.String && strings.EqualFold(v.Str, "all-linear"):
		a.AllLinear = true
	case v.Type == gjson.String:
		a.TargetPattern = v.Str
		a.whole = f.expression("target_modules", v.Str)
	case v.Type == gjson.Null:
	default:
		a.TargetModules = f.Strings("target_modules")
	}
	for _, name := range a.TargetModules {
		a.targets.add(matcher{rule: matchExact, text: name})
	}
	a.TargetParameters = f.Strings("target_parameters")
	a.TargetsDefault = f.fields["target_modules"].Type == gjson.Null && a.TargetParameters == nil && !a.IsPrompt()
	a.ModulesToSave = f.list("modules_to_save")
	for _, name := range a.ModulesToSave {
		// Python's rule is re.match(rf"(^|.*\.){m}($|\..*)", name)
		if p := f.expression("modules_to_save", `(?:^|.*\.)`+name+`(?:$|\..*)`); p != nil {
			a.saved = append(a.saved, p)
		}
	}
	a.FeedForward = f.list("feedforward_modules")
	a.readExcludes(f)
	a.readLayers(f)
}

func (a *Adapter) readExcludes(f *Config) {
	if v := f.fields["exclude_modules"]; v.Type == gjson.String {
		if p := f.expression("exclude_modules", v.Str); p != nil && v.Str != "" {
			a.excludes = append(a.excludes, p)
		}
		return
	}
	a.ExcludeModules = f.Strings("exclude_modules")
}

// readLayers reads layers_to_transform, a number or a list, and the names that
// the list of layers may have.
func (a *Adapter) readLayers(f *Config) {
	if v := f.fields["layers_to_transform"]; v.Type == gjson.Number {
		if n, ok := f.Nullable("layers_to_transform"); ok {
			a.Layers = []int64{n}
		}
	} else if layers := f.Ints("layers_to_transform"); len(layers) > 0 { // an empty list means all
		a.Layers = layers
	}
	for _, name := range f.list("layers_pattern") {
		if name == "" {
			continue
		}
		a.LayersPattern = append(a.LayersPattern, name)
		if p := f.expression("layers_pattern", `(?:^|.*?\.)`+name+`\.(\d+)\.`); p != nil {
			a.layered = append(a.layered, p)
		}
	}
}

// expression compiles a text; one that cannot be read is a fault.
func (c *Config) expression(field, text string) *pattern {
	p, err := compilePattern(text)
	if err != nil {
		c.fault(field, "%s", err)
		return nil
	}
	return p
}

// Targets reports whether the config asks for an adapter on a module, by name
// as the base model has it. For AllLinear it says true of every module but the
// head; the caller knows which modules are linear.
func (a *Adapter) Targets(module string) bool {
	if a.Excludes(module) || a.Saves(module) {
		return false
	}
	switch {
	case a.AllLinear:
		return !isHead(module)
	case a.TargetPattern != "":
		return a.whole != nil && a.whole.fullMatches(module)
	}
	if _, whole := a.targets.under[module]; whole { // a full name counts in whatever layer
		return true
	}
	return endsIn(module, a.targets.under) && a.inLayers(module)
}

// endsIn reports whether the name, or its end after a dot, is in the set.
func endsIn(name string, set map[string]int) bool {
	for {
		if _, ok := set[name]; ok {
			return true
		}
		dot := strings.IndexByte(name, '.')
		if dot < 0 {
			return false
		}
		name = name[dot+1:]
	}
}

// Excludes reports whether the config takes a module out of its targets.
func (a *Adapter) Excludes(module string) bool {
	for _, p := range a.excludes {
		if p.fullMatches(module) {
			return true
		}
	}
	for _, name := range a.ExcludeModules {
		if module == name || strings.HasSuffix(module, "."+name) {
			return true
		}
	}
	return false
}

// Saves reports whether the module, or one above it, is stored whole.
func (a *Adapter) Saves(module string) bool {
	for _, p := range a.saved {
		if p.matches(module) {
			return true
		}
	}
	return false
}

// inLayers applies layers_to_transform, which counts for lists of targets only.
func (a *Adapter) inLayers(module string) bool {
	if a.Layers == nil {
		return true
	}
	index, ok := a.layerOf(module)
	if !ok {
		return false
	}
	for _, layer := range a.Layers {
		if layer == index {
			return true
		}
	}
	return false
}

// layerOf finds the first number in the name that follows a list's name.
func (a *Adapter) layerOf(module string) (int64, bool) {
	if len(a.LayersPattern) == 0 {
		parts := strings.Split(module, ".")
		for i := 2; i < len(parts)-1; i++ {
			if n, err := strconv.ParseInt(parts[i], 10, 64); err == nil && n >= 0 {
				return n, true
			}
		}
		return 0, false
	}
	for _, p := range a.layered {
		if found := p.match.FindStringSubmatch(module); len(found) > 1 {
			n, err := strconv.ParseInt(found[len(found)-1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// TargetsParameter reports whether the config asks for an adapter on a
// parameter by its own name, such as model.layers.0.mlp.experts.down_proj.
func (a *Adapter) TargetsParameter(parameter string) bool {
	for _, name := range a.TargetParameters {
		if parameter == name || strings.HasSuffix(parameter, "."+name) {
			return true
		}
	}
	return false
}

// IsFeedForward reports whether IA3 scales the module at its input.
func (a *Adapter) IsFeedForward(module string) bool {
	for _, name := range a.FeedForward {
		if strings.HasSuffix(module, name) {
			return true
		}
	}
	return false
}

// RankOf returns the rank of a module: that of the first pattern that its name
// ends in, else the config's.
func (a *Adapter) RankOf(module string) int64 {
	for _, p := range a.RankPattern {
		if p.match.matches(module) {
			return int64(p.Value)
		}
	}
	return a.Rank
}

// AlphaOf returns the alpha of a module, as RankOf does the rank.
func (a *Adapter) AlphaOf(module string) float64 {
	for _, p := range a.AlphaPattern {
		if p.match.matches(module) {
			return p.Value
		}
	}
	return a.Alpha
}
