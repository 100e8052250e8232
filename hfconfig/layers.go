package hfconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// The words that the reference library takes in layer_types and mlp_layer_types
// (transformers 5.23), old names among them.
var (
	layerTypes = strings.Fields(`full_attention sliding_attention chunked_attention window_attention indexed_attention
 compressed_sparse_attention heavily_compressed_attention minimax_m3_sparse conv moe hybrid hybrid_sliding
 reference_sliding_attention linear_attention mamba attention deepseek_sparse_attention qwen_sparse_attention`)
	mlpLayerTypes = strings.Fields(`sparse dense`)
)

// ownLayerTypes are the classes that check the lists by words of their own.
func ownLayerTypes(modelType, field string) (words []string, own bool) {
	switch modelType + " " + field {
	case "deepseek_v4 layer_types":
		return []string{"sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"}, true
	case "deepseek_v4 mlp_layer_types":
		return []string{"hash_moe", "moe"}, true
	case "neomme layer_types":
		return []string{"full_attention", "sliding_attention"}, true
	case "qwen4_exp_text layer_types":
		return strings.Fields(`linear_attention indexed_attention full_attention mamba deepseek_sparse_attention qwen_sparse_attention`), true
	case "nemotron_h layer_types":
		return []string{"full_attention", "linear_attention", "moe", "mlp", "attention", "mamba"}, true
	}
	return nil, false
}

// computesLayers reports whether the class works layer_types out itself and
// refuses a file that has them.
func computesLayers(modelType string) bool {
	return slices.Contains(strings.Fields(`bamba falcon_h1 falcon_mamba jamba mamba mamba2 recurrent_gemma`), modelType)
}

// CheckLayers records what is wrong with the lists that give each layer its kind:
// a word that is none, or another length than the number of layers. What the
// class makes its layers by is then not known; in a class that has no such list
// the reference library refuses the file all the same.
func (c *Config) CheckLayers() {
	if c.class == nil || len(c.class.defaults) == 0 {
		return
	}
	c.checkLayerList("layer_types", layerTypes)
	c.checkLayerList("mlp_layer_types", mlpLayerTypes)
}

func (c *Config) checkLayerList(field string, known []string) {
	v, name, ok := c.stored(field)
	if !ok || v.Type == gjson.Null {
		return
	}
	layers, hasLayers := c.layers()
	report := func(field, reason string) { c.fault(field, "%s", reason) }
	switch {
	case field == "layer_types" && computesLayers(c.class.Type):
		c.refused(name, "is worked out by the class; the reference library refuses to have it set, leave it out")
		return
	case c.Declares(field):
	case !hasLayers || field == "mlp_layer_types" && !c.Given("layer_types") && !c.Declares("layer_types"):
		return // nobody looks at it
	default:
		report = func(field, reason string) { c.refused(field, reason+"; the reference library refuses it") }
	}
	if own, ok := ownLayerTypes(c.class.Type, field); ok {
		known = own
	}
	if !v.IsArray() {
		report(name, "is "+describe(v)+", want a list of texts")
		return
	}
	kinds := v.Array()
	odd := slices.IndexFunc(kinds, func(kind gjson.Result) bool {
		return kind.Type != gjson.String || !slices.Contains(known, kind.Str)
	})
	switch {
	case odd >= 0:
		report(fmt.Sprintf("%s[%d]", name, odd), "is "+describe(kinds[odd])+", want a kind of layer: "+strings.Join(known, ", "))
	case hasLayers && int64(len(kinds)) != layers:
		report(name, fmt.Sprintf("length %d, want %d: an entry for each layer of num_hidden_layers", len(kinds), layers))
	}
}

// layers is the number of layers by file or class, where the class has the field.
func (c *Config) layers() (int64, bool) {
	v, _, ok := c.stored("num_hidden_layers")
	if !ok {
		v = c.class.fallback("num_hidden_layers")
	}
	if !c.Declares("num_hidden_layers") || v.Type != gjson.Number || !isWhole(v.Raw) {
		return 0, false
	}
	return v.Int(), true
}
