package estimator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/tidwall/gjson"
)

// Config is what a description reads: the config file, the class that is asked
// for, and the sizes that nearly every architecture has, under the letters that
// formulas use.
type Config struct {
	*hfconfig.Config
	Class string // class with its head
	Task  Task
	inner *inner // for models composed of others
	mark  string // behind the symbols of a tower

	D Size // hidden size
	N Size // layers
	V Size // vocabulary
	C Size // positions
	A Size // query heads
	K Size // key and value heads
	H Size // head dim
	F Size // feed-forward width

	Q Size // all query heads together: A·H, or D where H is D/A
	U Size // all key and value heads together: K·H, or Q where K is A
}

func newConfig(config *hfconfig.Config, class string) *Config { return newPart(config, class, "") }

func newPart(config *hfconfig.Config, class, mark string) *Config {
	c := &Config{Config: config, Class: class, Task: taskOf(class), mark: mark}
	config.CheckLayers()
	c.D = c.first("D", "hidden_size", "n_embd", "d_model", "dim", "model_dim")
	c.N = c.first("N", "num_hidden_layers", "n_layer", "num_layers", "n_layers")
	c.V = c.first("V", "vocab_size", "padded_vocab_size")
	c.C = c.first("C", "max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length")
	c.A = c.first("A", "num_attention_heads", "n_head", "n_heads")
	c.F = c.first("F", "intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner")
	c.heads(c.A, c.firstOr("K", c.A, "num_key_value_heads", "num_kv_heads"), "head_dim")
	return c
}

// heads sets the attention sizes. The head dim is the config's where the field
// is given or the class has a default for it, else D/A.
func (c *Config) heads(A, K Size, headDim string) {
	c.A, c.K = A, K
	if K.Int() == A.Int() {
		c.K = A
	}
	if h, ok := c.Nullable(headDim); ok {
		c.H = c.named("H", headDim, h)
		c.Q = c.A.Times(c.H)
	} else {
		c.H = c.ratio("H", c.D, c.A)
		c.Q = c.D
		if c.H.Int()*c.A.Int() != c.D.Int() {
			c.Q = c.A.Times(c.H)
		}
	}
	c.U = c.K.Times(c.H)
	if c.K.Int() == c.A.Int() {
		c.U = c.Q
	}
}

// ratio returns ⌊n/d⌋ under a symbol of its own.
func (c *Config) ratio(symbol string, n, d Size) Size {
	if d.Int() == 0 {
		return unknown(symbol, d.missing)
	}
	return Named(symbol+c.mark, n.Int()/d.Int())
}

// Size returns a field under a symbol: the file's value, else the class's
// default. A missing or null value is a fault.
func (c *Config) Size(symbol, field string) Size {
	return c.named(symbol, field, c.Int(field))
}

// SizeOr returns a field under a symbol, or the derived size where file and
// class leave it open.
func (c *Config) SizeOr(symbol, field string, derived Size) Size {
	return c.firstOr(symbol, derived, field)
}

// GivenOr returns a field under a symbol where the file itself has it, else the
// derived size: for fields whose class default is derived from others.
func (c *Config) GivenOr(symbol, field string, derived Size) Size {
	if n, ok := c.GivenInt(field); ok {
		return c.named(symbol, field, n)
	}
	return derived
}

// SizeAuto returns a field under a symbol, or the derived size where it says
// "auto" or is left open.
func (c *Config) SizeAuto(symbol, field string, derived Size) Size {
	if c.Value(field).Str == "auto" {
		return derived
	}
	return c.SizeOr(symbol, field, derived)
}

// first returns the first of the fields that has a value. A size that none
// gives is unknown: a fault only where a description uses it.
func (c *Config) first(symbol string, fields ...string) Size {
	return c.firstOr(symbol, unknown(symbol, c.WhyNoInt(fields...)), fields...)
}

func (c *Config) firstOr(symbol string, otherwise Size, fields ...string) Size {
	for _, field := range fields {
		if v := c.Value(field); (v.IsArray() || v.IsObject()) && c.TakesList(field) { // one number a layer, SizeAt, or a part
			return unknown(symbol, c.WhyNoInt(field))
		}
		if n, ok := c.Nullable(field); ok {
			return c.named(symbol, field, n)
		}
	}
	return otherwise
}

// few is a number of modules that a description writes one by one; one beyond
// what any model has is a fault.
func (c *Config) few(field string) int {
	n := c.Int(field)
	if n > mostLayers {
		c.Fault(field, "%d, no model has more than %d", n, mostLayers)
		return 1
	}
	return int(max(0, n))
}

func (c *Config) named(symbol, field string, n int64) Size {
	if n < 0 {
		c.Fault(field, "%d is negative", n)
		n = 0
	}
	return Named(symbol+c.mark, n)
}

// Switch reads a flag where the class declares it; elsewhere it has no effect.
func (c *Config) Switch(field string) bool {
	return c.Declares(field) && c.Bool(field)
}

// tied reports whether input and output embeddings are one tensor.
func (c *Config) tied() bool { return c.BoolOr("tie_word_embeddings", true) }

// under returns the prefix of the body's names: none for the base class itself.
func (c *Config) under(prefix string) string {
	if c.Task == BaseModel || c.Task == BackboneOnly {
		return ""
	}
	return prefix
}

// layerType returns the kind of layer i: the file's list, else the class's
// period carried on.
func (c *Config) layerType(field string, i int, period ...string) string {
	if list := c.Strings(field); i < len(list) {
		return list[i]
	}
	if len(period) == 0 {
		return ""
	}
	return period[i%len(period)]
}

// window returns how many tokens attention sees in layer i, 0 for all: by
// layer_types where there are any, else in the layers from max_window_layers on
// where a flag switches windows, else everywhere.
func (c *Config) window(i int) int64 {
	window, ok := c.Nullable("sliding_window")
	if !ok {
		return 0
	}
	if c.Declares("use_sliding_window") && !c.Bool("use_sliding_window") {
		return 0
	}
	switch types := c.Strings("layer_types"); {
	case i < len(types):
		if types[i] != "sliding_attention" {
			return 0
		}
	case c.Declares("max_window_layers"):
		if int64(i) < c.Int("max_window_layers") {
			return 0
		}
	}
	return window
}

// sliding returns the windows of a class whose layers slide by a period of its
// own where layer_types says nothing.
func (c *Config) sliding(period ...string) func(i int) int64 {
	return func(i int) int64 {
		if c.layerType("layer_types", i, period...) != slidingAttention {
			return 0
		}
		return c.IntOr("sliding_window", 0)
	}
}

// The kinds of layer in layer_types that most classes know.
const (
	fullAttention    = "full_attention"
	slidingAttention = "sliding_attention"
)

// by returns the choice that a switch makes, for switches under names of their
// own.
func (c *Config) by(field string) Setting {
	if c.Bool(field) {
		return On
	}
	return Off
}

// evenHeads sets the head dim to D/A, for classes that ignore head_dim.
func (c *Config) evenHeads() { c.heads(c.A, c.K, "") }

// everyNth is the period of n−1 sliding layers and a full one, n read from the
// field.
func (c *Config) everyNth(field string) []string { return every(c.IntOr(field, 1)) }

// every is the period of n−1 sliding layers and a full one.
func every(n int64) []string {
	return append(slices.Repeat([]string{slidingAttention}, int(max(1, min(n, mostLayers))-1)), fullAttention)
}

// pattern reads a period of layers: a number n for every(n), or letters, L for a
// window and G for full attention.
func (c *Config) pattern(field string, otherwise int64) []string {
	if c.Value(field).Type != gjson.String {
		return every(c.IntOr(field, otherwise))
	}
	var period []string
	for _, letter := range c.String(field) {
		if letter == 'L' {
			period = append(period, slidingAttention)
		} else {
			period = append(period, fullAttention)
		}
	}
	return period
}

// atLayer returns what per_layer_config says of a field in layer i.
func (c *Config) atLayer(i int, field string) (n int64, ok bool) {
	c.Value("per_layer_config").ForEach(func(key, layer gjson.Result) bool {
		if at, err := strconv.Atoi(key.Str); err != nil || at != i {
			return true
		}
		if v := layer.Get(field); v.Type == gjson.Number {
			n, ok = v.Int(), true
		}
		return false
	})
	return n, ok
}

// SizeAt returns a field that may hold one number for each layer.
func (c *Config) SizeAt(symbol, field string, i int) Size {
	if !c.Value(field).IsArray() {
		return c.first(symbol, field)
	}
	list := c.Ints(field)
	c.each(field, len(list))
	if i >= len(list) {
		return Named(symbol+c.mark, 0)
	}
	return c.named(symbol, field, list[i])
}

// each finds a list for the layers that has another length.
func (c *Config) each(field string, entries int) {
	if layers := c.N.Int(); int64(entries) != layers {
		c.Fault(field, "length %d, want %d: an entry for each layer", entries, layers)
	}
}

// inWords finds a word of a list that is no kind of layer.
func (c *Config) inWords(field string, list []string, kinds ...string) {
	for i, kind := range list {
		if !slices.Contains(kinds, kind) {
			c.Fault(fmt.Sprintf("%s[%d]", field, i), "is the text %q, want a kind of layer: %s", kind, strings.Join(kinds, ", "))
			return
		}
	}
}

// sparse reports whether layer i has routed experts, by whichever of the usual
// fields the class declares: a list of kinds, the first k layers dense, every
// n-th layer sparse, some layers named as dense.
func (c *Config) sparse(i int) bool {
	if c.Declares("mlp_layer_types") {
		if types := c.Strings("mlp_layer_types"); i < len(types) {
			return types[i] != "dense"
		}
	}
	if k, ok := c.Nullable("first_k_dense_replace"); ok && int64(i) < k {
		return false
	}
	if slices.Contains(c.Ints("mlp_only_layers"), int64(i)) {
		return false
	}
	for _, step := range []string{"decoder_sparse_step", "moe_layer_freq"} {
		if c.Declares("first_k_dense_replace") && !c.Declares(step) {
			continue // published DeepSeek configs hold it, the class does not look at it
		}
		if n, ok := c.step(step); ok && n > 0 {
			return (int64(i)+offset(step))%n == 0
		}
	}
	return true
}

// step reads a layer period; a list of flags per layer is not one.
func (c *Config) step(field string) (int64, bool) {
	if c.Value(field).IsArray() && c.TakesList(field) {
		return 0, false
	}
	return c.Nullable(field)
}

// offset says from where a period counts: DeepSeek's from layer 0, Qwen's from 1.
func offset(field string) int64 {
	if field == "moe_layer_freq" {
		return 0
	}
	return 1
}

// positions is the longest sequence that the config names, 0 where it names none
// or the class only knows distances.
func (c *Config) positions() int64 {
	if c.Declares("relative_attention_num_buckets") {
		return 0
	}
	if n := c.C.Int(); n > 0 {
		return n
	}
	if !c.Given("text_config") {
		return 0
	}
	return max(0, c.Value("text_config").Get("max_position_embeddings").Int())
}
