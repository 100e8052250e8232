package hfconfig

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// mostSize bounds a size: beyond it no tensor could be stored.
const mostSize = 1 << 40

// PositiveInt returns a whole number as Int does, and records a fault where it
// is no size of a tensor: below one or beyond any.
func (c *Config) PositiveInt(field string) int64 {
	n := c.Int(field)
	_, name := c.value(field)
	switch {
	case n < 0:
		c.fault(name, "%d is negative, want a size", n)
	case n > mostSize:
		c.fault(name, "%d is larger than any tensor", n)
	case n == 0 && c.Given(field):
		c.fault(name, "is 0, want a size")
	default:
		return n
	}
	return 0
}

// Count returns a number of things (layers, experts) between zero and most, so
// that a loop over them ends; anything else is a fault and counts as zero.
func (c *Config) Count(field string, most int64) int64 {
	n := c.Int(field)
	_, name := c.value(field)
	switch {
	case n < 0:
		c.fault(name, "%d is negative, want a count", n)
	case n > most:
		c.fault(name, "%d is more than the %d that this program follows", n, most)
	default:
		return n
	}
	return 0
}

// Check records what the reference library refuses in a config whatever the
// architecture, though nothing is in doubt: a null model type, a dtype that
// torch lacks, heads that do not divide the hidden size in classes that insist
// on it. All these faults have Usable set.
func (c *Config) Check() {
	c.checkModelType()
	c.checkArchitectures()
	c.checkInitializer()
	c.checkQuantization()
	c.checkPart()
}

// checkPart checks what any config may have, one nested in another too.
func (c *Config) checkPart() {
	c.checkTypes()
	c.CheckLayers()
	c.checkDType("dtype")
	c.checkDType("torch_dtype")
	c.checkHeads()
	for _, field := range c.nested() {
		if c.fields[field].IsObject() {
			c.Sub(field).checkPart()
		}
	}
}

// nested lists the fields in which the class has other configs, sorted.
func (c *Config) nested() []string {
	if c.class == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(c.class.nested))
}

func (c *Config) refused(field, reason string) {
	c.record(&FieldError{Field: c.path + field, Reason: reason, Usable: true})
}

// checkInitializer: the library's classes that have the field want it between 0
// and 1. Which ones have it is not kept; none takes what is no number at all.
func (c *Config) checkInitializer() {
	v := c.fields["initializer_range"]
	if v.Type == gjson.Number && ClassOf(c.ModelType()) != nil && math.IsInf(v.Num, 0) {
		c.refused("initializer_range", "is "+v.Raw+", want a number between 0 and 1; the reference library refuses it")
	}
}

// checkQuantization: an object without a method is refused.
func (c *Config) checkQuantization() {
	if v := c.fields["quantization_config"]; v.IsObject() && len(v.Map()) == 0 {
		c.refused("quantization_config", "is empty, want a quant_method; the reference library refuses it")
	}
}

// checkModelType: a null or a number is refused. A name that is not known is no
// fault of the file, and without any the library goes by the folder's name.
func (c *Config) checkModelType() {
	v := c.fields["model_type"]
	if v.Exists() && v.Type != gjson.String {
		c.refused("model_type", "is "+describe(v)+", want the architecture's name; the reference library refuses it")
	}
}

func (c *Config) checkArchitectures() {
	v := c.fields["architectures"]
	if !v.Exists() || v.Type == gjson.Null || v.Type == gjson.String {
		return
	}
	if !v.IsArray() {
		c.fault("architectures", "is %s, want a list of class names", describe(v))
	}
}

// checkDType: the library looks the name up in torch.
func (c *Config) checkDType(field string) {
	v := c.fields[field]
	switch {
	case !v.Exists() || v.Type == gjson.Null || v.IsObject(): // an object gives a dtype by part of the model
	case v.Type != gjson.String:
		c.refused(field, "is "+describe(v)+", want a dtype's name")
	case !isDType(v.Str):
		c.refused(field, "is "+describe(v)+", which is no dtype of torch; the reference library refuses it")
	}
}

// isDType reports whether torch has a dtype of this name (2.15).
func isDType(name string) bool {
	const names = ` bcomplex32 bfloat16 bit bits16 bits1x8 bits2x4 bits4x2 bits8 bool cdouble cfloat chalf
 complex128 complex32 complex64 double float float16 float32 float64
 float4_e2m1fn_x2 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu half
 int int1 int16 int2 int3 int32 int4 int5 int6 int64 int7 int8 long qint32 qint8 quint2x4 quint4x2 quint8 short
 uint1 uint16 uint2 uint3 uint32 uint4 uint5 uint6 uint64 uint7 uint8 `
	return slices.Contains(strings.Fields(names), name)
}

// headsDivide reports whether a class refuses a hidden size that is no multiple
// of its heads when it reads the config (transformers 5.23, each class tried).
// Others refuse it when they build the model, or do not care.
func headsDivide(modelType string) bool {
	const types = `altclip_text_model altclip_vision_model arcee aria_text canary_decoder
 chinese_clip_text_model chinese_clip_vision_model clip_text_model clip_vision_model
 clipseg_text_model clipseg_vision_model cosmos3_edge_text cwm d_fine deepseek_ocr2_text deepseek_v2
 deimv2 dots3_note_audio_encoder dots3_note_vision_encoder esmc eurobert fastspeech2_conformer gemma2
 gemma3_text gemma3n_text gpt_neox gradium_phonon_tts higgs_audio_v2 hrm_text hyperclovax internlm3
 iquestcoder jais2 llama metaclip_2_text_model metaclip_2_vision_model minicpm3 muse_glimmer_text
 muse_spark_text nemotron3_5_transcribe_asr_audio nemotron3_5_transcribe_word_timestamp
 nemotron3_diarization_audio neucodec pocket_tts t5_gemma_module t5gemma2_decoder t5gemma2_text
 tipsv2_text_model ultrabert unlimited_ocr_text unlimited_ocr_vision_encoder vaultgemma xcodec2`
	return slices.Contains(strings.Fields(types), modelType)
}

func (c *Config) checkHeads() {
	if !headsDivide(c.ModelType()) {
		return
	}
	hidden, ok := c.Nullable("hidden_size")
	if !ok {
		return
	}
	heads, ok := c.Nullable("num_attention_heads")
	switch {
	case !ok:
	case heads == 0:
		c.refused("num_attention_heads", "is 0; the reference library refuses it")
	case hidden%heads != 0:
		_, name := c.value("hidden_size")
		c.refused(name, fmt.Sprintf("%d is no multiple of the %d attention heads; the reference library refuses it", hidden, heads))
	}
}
