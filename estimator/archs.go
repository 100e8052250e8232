package estimator

import (
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// Arch is one described architecture.
type Arch struct {
	Type     string // model_type
	Class    string // the class that a config without architectures means
	Describe func(*Config) Model
}

// architectures lists every description, by model type.
var architectures = slices.Concat(gptFamily, llamaFamily, routedFamily, recurrentFamily, bertFamily,
	crossFamily, contrastiveFamily, visionFamily, imageTextFamily, remoteFamily, waveFamily, listenFamily, fastConformerFamily, speechFamily, codecFamily, voiceFamily,
	seamlessFamily, hearFamily, seriesFamily)

// Lookup returns the description of a model type.
func Lookup(modelType string) (Arch, bool) {
	i := slices.IndexFunc(architectures, func(a Arch) bool { return a.Type == modelType })
	if i < 0 {
		return Arch{}, false
	}
	return architectures[i], true
}

// Architectures returns all descriptions, sorted by model type.
func Architectures() []Arch {
	return slices.SortedFunc(slices.Values(architectures), func(a, b Arch) int { return strings.Compare(a.Type, b.Type) })
}

// otherHeads are classes of described model types whose own parts are not
// described, though their names end as others' do.
var otherHeads = []string{"BeitBackbone", "BeitForSemanticSegmentation", "Blip2TextModelWithProjection", "Blip2VisionModelWithProjection",
	"ConvNextBackbone", "ConvNextV2Backbone", "DINOv3ConvNextBackbone", "Data2VecVisionForSemanticSegmentation",
	"MobileNetV2ForSemanticSegmentation", "SwinBackbone", "Swinv2Backbone"}

// lacks reports whether a class of the type in the reference library is none that
// the description knows.
func (a Arch) lacks(class string) bool {
	unknown := class != a.Class && taskOf(class) == OtherTask && slices.Contains(hfconfig.TypesOfClass(class), a.Type)
	return unknown || slices.Contains(otherHeads, class)
}

// class chooses the class to describe: the config's first, else the default.
func (a Arch) class(named []string) string {
	if len(named) > 0 && taskOf(named[0]) != OtherTask {
		return named[0]
	}
	return a.Class
}
