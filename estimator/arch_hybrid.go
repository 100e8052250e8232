package estimator

// linearAttention is the kind of a layer that keeps a fixed state.
const linearAttention = "linear_attention"

// modernKinds returns a list of layer kinds, those that go by an older name
// under their present one; nil where there is no list.
func (c *Config) modernKinds(field string) []string {
	kinds := c.Strings(field)
	for i, kind := range kinds {
		switch kind {
		case "mamba":
			kinds[i] = linearAttention
		case "attention":
			kinds[i] = fullAttention
		}
	}
	return kinds
}

// kinds returns the kind of each layer: by the list, else by a period carried on.
func (c *Config) kinds(field string, period ...string) func(i int) string {
	list := c.modernKinds(field)
	return func(i int) string {
		if i < len(list) {
			return list[i]
		}
		return period[i%len(period)]
	}
}
