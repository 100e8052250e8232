package estimator

import (
	"errors"
	"fmt"
	"strings"
)

// Task is what a class's head is for.
type Task uint8

// The tasks, by the endings of class names.
const (
	OtherTask Task = iota
	BaseModel
	CausalLM
	MaskedLM
	PreTraining
	SequenceClassification
	TokenClassification
	QuestionAnswering
	MultipleChoice
	NextSentencePrediction
	DoubleHeads
	Reward
	SimpleAnswering // question answering without the beam search of XLM and XLNet
	ConditionalGeneration
	AudioClassification
	EncoderOnly // the encoder of an encoder-decoder
	Projection  // a tower with its projection into the space of comparison
	ImageClassification
	MaskedImageModeling
	ImageTextRetrieval
	CTC // transcription frame by frame
	FrameClassification
	SpeakerVector
	SpeechToText
	TextToSpeech
	SpeechToSpeech
	TextToText
	Prediction           // of a time series
	TaughtClassification // classification with a second classifier, which learns from a teacher
	ObjectDetection
	SemanticSegmentation
	ImageSegmentation
	SuperResolution
	DepthEstimation
	VideoClassification
	BackboneOnly // stages of a pyramid for a head beside
)

var taskSuffixes = []struct {
	suffix string
	task   Task
}{
	{"ForCausalLM", CausalLM},
	{"DoubleHeadsModel", DoubleHeads},
	{"LMHeadModel", CausalLM},
	{"WithLMHeadModel", CausalLM},
	{"ForMaskedLM", MaskedLM},
	{"ForPreTraining", PreTraining},
	{"ForSequenceClassification", SequenceClassification},
	{"ForTokenClassification", TokenClassification},
	{"ForQuestionAnswering", QuestionAnswering},
	{"ForQuestionAnsweringSimple", SimpleAnswering},
	{"ForMultipleChoice", MultipleChoice},
	{"ForNextSentencePrediction", NextSentencePrediction},
	{"ForConditionalGeneration", ConditionalGeneration},
	{"MTModel", ConditionalGeneration},
	{"ForAudioClassification", AudioClassification},
	{"ForCTC", CTC},
	{"ForSpeechToText", SpeechToText},
	{"ForTextToSpeech", TextToSpeech},
	{"ForSpeechToSpeech", SpeechToSpeech},
	{"ForTextToText", TextToText},
	{"ForPrediction", Prediction},
	{"ForRNNT", CTC},
	{"ForTDT", CTC},
	{"ForAudioFrameClassification", FrameClassification},
	{"ForXVector", SpeakerVector},
	{"GenerationDecoder", CausalLM},
	{"GenerationEncoder", BaseModel},
	{"RewardModel", Reward},
	{"ForImageClassification", ImageClassification},
	{"ForMaskedImageModeling", MaskedImageModeling},
	{"ForImageClassificationWithTeacher", TaughtClassification},
	{"ForObjectDetection", ObjectDetection},
	{"ForSemanticSegmentation", SemanticSegmentation},
	{"ForImageSegmentation", ImageSegmentation},
	{"ForImageSuperResolution", SuperResolution},
	{"ForDepthEstimation", DepthEstimation},
	{"ForVideoClassification", VideoClassification},
	{"Backbone", BackboneOnly},
	{"ForImageTextRetrieval", ImageTextRetrieval},
	{"ModelWithProjection", Projection},
	{"EncoderModel", EncoderOnly},
	{"QuestionEncoder", EncoderOnly},
	{"ContextEncoder", EncoderOnly},
	{"DPRReader", QuestionAnswering},
	{"Model", BaseModel},
}

// taskOf reads the task off a class name.
func taskOf(class string) Task {
	for _, s := range taskSuffixes {
		if strings.HasSuffix(class, s.suffix) {
			return s.task
		}
	}
	return OtherTask
}

// ErrUnknownClass is the error for a class that the model type does not have.
var ErrUnknownClass = errors.New("no class of this model type")

// CheckClass reports whether a class belongs to the model type by its name: the
// type's own stem, and an ending that says what the head is for. What is asked
// for by hand should not be guessed at.
func CheckClass(modelType, class string) error {
	arch, ok := Lookup(modelType)
	if !ok || class == arch.Class {
		return nil
	}
	stem := stemOf(arch.Class)
	if taskOf(class) != OtherTask && strings.HasPrefix(class, stem) {
		return nil
	}
	return fmt.Errorf("%w: %s is none of %s, such as %s", ErrUnknownClass, class, modelType, arch.Class)
}

// stemOf is a class's name without the ending for its task.
func stemOf(class string) string {
	for _, s := range taskSuffixes {
		if rest, ok := strings.CutSuffix(class, s.suffix); ok {
			return rest
		}
	}
	return class
}

// siblingSuffixes are the endings of classes that share a body, those with the
// most heads first.
var siblingSuffixes = []string{"ForPreTraining", "DoubleHeadsModel", "ForMaskedLM", "LMHeadModel", "ForCausalLM",
	"ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice", "Model"}

// Siblings returns the names of classes with the model's body and other heads,
// whether the library has them or not.
func Siblings(m *Model) []string {
	stem := stemOf(m.Class)
	var siblings []string
	for _, suffix := range siblingSuffixes {
		if class := stem + suffix; class != m.Class {
			siblings = append(siblings, class)
		}
	}
	return siblings
}

// Heads names the heads of a family where they differ from the usual ones.
type Heads struct {
	Head       string // output projection: lm_head
	HeadBias   bool
	Score      string // sequence classification: score
	ScoreBias  bool
	Tokens     string // token classification: score
	Answers    string // question answering: qa_outputs
	AllLabels  bool   // question answering with as many outputs as the config has labels
	Rows       Size   // of the output projection, where not those of the model's own vocabulary
	Untied     bool   // an output projection of its own where the config does not say
	NeverTied  bool   // an output projection of its own, whatever the config says
	Tied       bool   // whatever the config says
	TiedBy     string // config field that overrules tie_word_embeddings
	TokensBare bool   // token classification without a bias
}

// head returns the blocks that stand beside a decoder's body for the class's
// task. The output projection is tied to the embedding where the config says so.
func (c *Config) head(embedding string, d Size, names Heads) []Block {
	labels, tied := Named("labels", c.NumLabels()), names.Tied || c.BoolOr(names.TiedBy, c.BoolOr("tie_word_embeddings", !names.Untied))
	switch c.Task {
	case BaseModel:
		return nil
	case SequenceClassification:
		return []Block{Linear(or(names.Score, "score"), d, labels).Bias(names.ScoreBias).As(Classifier)}
	case Reward:
		return []Block{Linear("v_head", d, Const(1)).As(Classifier)}
	case TokenClassification:
		return []Block{Linear(or(names.Tokens, "score"), d, labels).
			Bias(!names.TokensBare && c.BoolOr("token_classification_bias", true)).As(Classifier)}
	case QuestionAnswering:
		outputs := Const(2)
		if names.AllLabels {
			outputs = labels
		}
		return []Block{Linear(or(names.Answers, "qa_outputs"), d, outputs).Bias(true).As(Classifier)}
	}
	head := []Block{Linear(or(names.Head, "lm_head"), d, orSize(names.Rows, c.V)).Bias(names.HeadBias).
		On(PerLogit).TiedTo(embedding, tied && !names.NeverTied).As(Head)}
	if c.Task == DoubleHeads {
		head = append(head, c.summary("multiple_choice_head", d, Const(1))...)
	}
	return head
}

// summary is the projection that makes one vector of a sequence, where the
// config asks for it: onto the labels, or of the model's own width.
func (c *Config) summary(name string, d, labels Size) []Block {
	switch {
	case !c.Bool("summary_use_proj"):
		return nil
	case c.Bool("summary_proj_to_labels"):
		return []Block{Linear(name+".summary", d, labels).Bias(true).On(PerSequence).As(Classifier)}
	}
	return []Block{Linear(name+".summary", d, d).Bias(true).On(PerSequence).As(Pooler)}
}

func or(name, usual string) string {
	if name != "" {
		return name
	}
	return usual
}

// join puts a prefix before a name.
func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}
