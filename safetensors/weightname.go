package safetensors

import (
	"path"
	"strconv"
	"strings"
)

// setKey is what files of one set have in common.
type setKey struct {
	folder, stem, variant string
	format                Format
	of                    int
}

// weightName is the name of a weight file, taken apart.
type weightName struct {
	setKey
	number int
	index  bool
}

var formatOf = map[string]Format{
	".safetensors": FormatSafetensors,
	".bin":         FormatPickle, ".pt": FormatPickle, ".pth": FormatPickle, ".ckpt": FormatPickle,
	".gguf": FormatGGUF,
	".h5":   FormatOther, ".msgpack": FormatOther, ".onnx": FormatOther, ".npz": FormatOther,
}

// notWeights are files with the extension of weights that hold none of the model.
var notWeights = map[string]bool{
	"training_args.bin": true, "optimizer.bin": true, "optimizer.pt": true, "scheduler.bin": true,
	"scheduler.pt": true, "rng_state.pth": true, "scaler.pt": true, "trainer_state.bin": true,
	"tokenizer.bin": true, "vocab.bin": true,
}

// parseWeightName takes a path apart; ok is false for files that are no weights.
//
//	model.safetensors                          model
//	model.fp16-00001-of-00002.safetensors      model, variant fp16, shard 1 of 2
//	model-00001-of-00002.fp16.safetensors      the same, as older libraries wrote it
//	model.safetensors.index.fp16.json          its index
func parseWeightName(file string) (w weightName, ok bool) {
	folder, base := path.Split(file)
	w.folder = strings.TrimSuffix(folder, "/")
	if strings.HasPrefix(base, ".") || notWeights[base] || strings.HasPrefix(base, "rng_state_") {
		return w, false
	}
	if strings.HasSuffix(base, ".json") {
		return w.parseIndex(base)
	}
	ext := path.Ext(base)
	if w.format, ok = formatOf[ext]; !ok {
		return w, false
	}
	stem := strings.TrimSuffix(base, ext)
	stem, variant := cutVariant(stem)
	if head, number, of, sharded := cutNumber(stem); sharded {
		w.number, w.of = number, of
		if variant != "" {
			w.stem, w.variant = head, variant
			return w, true
		}
		w.stem, w.variant = cutVariant(head)
		return w, true
	}
	w.stem, w.variant = stem, variant
	return w, true
}

// parseIndex takes the name of an index apart:
// <stem>.<extension>.index[.<variant>].json.
func (w weightName) parseIndex(base string) (weightName, bool) {
	stem, rest, ok := strings.Cut(strings.TrimSuffix(base, ".json"), ".index")
	if !ok || rest != "" && rest[0] != '.' {
		return w, false
	}
	w.index = true
	w.variant = strings.TrimPrefix(rest, ".")
	ext := path.Ext(stem)
	if w.format, ok = formatOf[ext]; !ok {
		return w, false
	}
	w.stem = strings.TrimSuffix(stem, ext)
	if w.variant == "" {
		w.stem, w.variant = cutVariant(w.stem)
	}
	return w, true
}

// cutVariant splits "model.fp16" at the dot. A variant is a short word of lower
// case letters, digits and underscores that begins with a letter; "consolidated.00"
// and "v1.5" have none.
func cutVariant(stem string) (rest, variant string) {
	dot := strings.LastIndexByte(stem, '.')
	if dot <= 0 || dot == len(stem)-1 {
		return stem, ""
	}
	variant = stem[dot+1:]
	if variant[0] < 'a' || variant[0] > 'z' || strings.ContainsFunc(variant, notVariant) {
		return stem, ""
	}
	return stem[:dot], variant
}

func notVariant(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
}

// cutNumber splits "model-00001-of-00002".
func cutNumber(stem string) (head string, number, of int, ok bool) {
	at := strings.LastIndex(stem, "-of-")
	if at < 0 {
		return stem, 0, 0, false
	}
	dash := strings.LastIndexByte(stem[:at], '-')
	if dash <= 0 {
		return stem, 0, 0, false
	}
	number, ok1 := shardNumber(stem[dash+1 : at])
	of, ok2 := shardNumber(stem[at+len("-of-"):])
	return stem[:dash], number, of, ok1 && ok2 && of > 0
}

func shardNumber(digits string) (int, bool) {
	if digits == "" || len(digits) > 9 || strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}
