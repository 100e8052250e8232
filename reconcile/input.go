package reconcile

import (
	"iter"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// Input is the two accounts of a model.
type Input struct {
	Config     *hfconfig.Config // nil where there is none
	Model      *estimator.Model // nil where the architecture is not described
	Checkpoint *safetensors.Checkpoint

	// Values reads the data of a small tensor by its stored name; nil where data
	// cannot be read.
	Values func(name string) ([]byte, error)
	// AllValues says that reading values costs little: the files are local.
	AllValues bool

	// Quantization is a quantisation config from a file of its own; nil means the
	// one in Config.
	Quantization *hfconfig.Quantization
}

// quantization returns what the config says about quantisation. Its faults are
// the config's, and reported there.
func (in *Input) quantization() *hfconfig.Quantization {
	if in.Quantization != nil || in.Config == nil {
		return in.Quantization
	}
	q, _ := in.Config.Quantization()
	return q
}

// Result is what the reconciliation finds.
type Result struct {
	Rows        []Row
	Unexplained int64
	// UnexplainedTensors lists by name what no row explains: missing, unexpected
	// and mis-shaped tensors.
	UnexplainedTensors []string

	StoredElements int64
	StoredBytes    int64
	// Logical counts every parameter in the files, quantised storage unpacked,
	// stored ties as stored; buffers and bookkeeping apart.
	Logical int64
	// Unique, NonEmbedding and Active count what the architecture loads, each
	// tied parameter once. Known is false where they cannot be told.
	Known                        bool
	Unique, NonEmbedding, Active int64

	Quantisation *QuantisationSummary // nil where nothing is quantised

	Claims  []Claim
	Missing []MissingTensor // at most some thousand
}

// MissingTensor is an expected tensor that the files do not hold.
type MissingTensor struct {
	Name     string
	Shape    []int64
	Elements int64
	Role     string
}

// mostMissing bounds the list of missing tensors: the config's numbers are not
// to be trusted.
const mostMissing = 1 << 14

// Stage is one of the three stretches of the ledger.
type Stage string

// The stages: textbook formula to estimate, estimate to stored elements, stored
// elements to bytes and files.
const (
	FormulaStage  Stage = "formula"
	EstimateStage Stage = "estimate"
	StoredStage   Stage = "stored"
)

// Row is a line of the ledger: a signed number of elements with its reason.
type Row struct {
	Stage    Stage    `json:"stage"`
	Code     string   `json:"code"`
	Reason   string   `json:"reason"`
	Formula  string   `json:"formula,omitempty"` // in symbols, or as a product: 48 × h.N.attn.bias [1,1,1024,1024]
	Elements int64    `json:"elements"`
	Bytes    int64    `json:"bytes,omitempty"` // stored stage only
	Tensors  []string `json:"tensors,omitempty"`
	Fields   []string `json:"fields,omitempty"`
}

// Status says what a stored tensor turned out to be.
type Status string

// The statuses of stored tensors, as the tensors command prints them.
const (
	Expected     Status = "expected"
	Tied         Status = "tied"
	Buffer       Status = "buffer"
	Mismatch     Status = "mismatch"
	Unexpected   Status = "unexpected"
	Missing      Status = "missing"
	Section      Status = "section" // of a part beside the model
	OtherHead    Status = "other_head"
	Quantisation Status = "quantisation" // scales, zeros, indices
	Quantised    Status = "quantised"    // packed weights
	Beyond       Status = "beyond_config"
	Duplicate    Status = "duplicate"
	Inferred     Status = "inferred" // no description: the role is a guess
	Rearranged   Status = "rearranged"
)

// Statuses lists every status, in the order above.
func Statuses() []Status {
	return []Status{Expected, Tied, Buffer, Mismatch, Unexpected, Missing, Section, OtherHead, Quantisation, Quantised, Beyond, Duplicate,
		Inferred, Rearranged}
}

// Claim is a set of stored tensors of one template, dtype and shape that turned
// out to be the same thing.
type Claim struct {
	Status   Status
	Role     string
	Serves   string // role of the weight that a companion belongs to
	Template string // as stored, "*" where a number stands
	Name     string // the same under the description's prefix and endings
	DType    safetensors.DType
	Shape    []int64
	Logical  int64 // parameters, all members together; 0 for buffers and bookkeeping
	Loose    bool  // of many names and shapes: Template, Name and Shape say nothing

	members []member
}

// Len is how many tensors the claim is on.
func (c *Claim) Len() int { return len(c.members) }

// Parameters is how many of the parameters a member holds.
func (c *Claim) Parameters(one Member) int64 {
	if c.Loose && c.Logical > 0 {
		return one.Tensor.Elements()
	}
	return c.Logical / int64(c.Len())
}

// Members yields the tensors, in the order of the files.
func (c *Claim) Members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for i := range c.members {
			if !yield(Member{c.members[i].tensor, c.members[i].file}) {
				return
			}
		}
	}
}

// Member is one stored tensor.
type Member struct {
	Tensor *safetensors.Tensor
	File   *safetensors.File
}
