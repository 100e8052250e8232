package estimator

import "strings"

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
	ConditionalGeneration
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
	{"ForMultipleChoice", MultipleChoice},
	{"ForNextSentencePrediction", NextSentencePrediction},
	{"ForConditionalGeneration", ConditionalGeneration},
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

// Heads names the heads of a family where they differ from the usual ones.
type Heads struct {
	Head       string // output projection: lm_head
	HeadBias   bool
	Score      string // sequence classification: score
	Tokens     string // token classification: score
	Answers    string // question answering: qa_outputs
	TokensBare bool   // token classification without a bias
}

// head returns the blocks that stand beside a decoder's body for the class's
// task. The output projection is tied to the embedding where the config says so.
func (c *Config) head(embedding string, d Size, names Heads) []Block {
	labels := Named("labels", c.NumLabels())
	switch c.Task {
	case BaseModel:
		return nil
	case SequenceClassification:
		return []Block{Linear(or(names.Score, "score"), d, labels).As(Classifier)}
	case TokenClassification:
		return []Block{Linear(or(names.Tokens, "score"), d, labels).Bias(!names.TokensBare).As(Classifier)}
	case QuestionAnswering:
		return []Block{Linear(or(names.Answers, "qa_outputs"), d, Const(2)).Bias(true).As(Classifier)}
	}
	return []Block{Linear(or(names.Head, "lm_head"), d, c.V).Bias(names.HeadBias).
		On(PerLogit).TiedTo(embedding, c.tied()).As(Head)}
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
