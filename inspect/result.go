package inspect

import (
	"math/big"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/source"
)

// SchemaVersion is the version of the JSON results. It changes when a field is
// renamed or removed, not when one is added.
const SchemaVersion = "1"

// Inspection is everything that an inspection finds about one model. A null
// number is one that cannot be known.
type Inspection struct {
	SchemaVersion string                         `json:"schema_version"`
	Source        Source                         `json:"source"`
	Model         Model                          `json:"model"`
	Counts        Counts                         `json:"counts"`
	Formula       Formula                        `json:"formula"`
	Ledger        Ledger                         `json:"ledger"`
	ByRole        []RoleSum                      `json:"by_role"`
	ByDType       []DTypeSum                     `json:"by_dtype"`
	ByLayer       []LayerSum                     `json:"by_layer"`
	ByShard       []ShardSum                     `json:"by_shard"`
	Adapter       *Adapter                       `json:"adapter,omitempty"` // nil for a model
	Quantisation  *reconcile.QuantisationSummary `json:"quantisation,omitempty"`
	Findings      []finding.Finding              `json:"findings"`
	Access        source.Access                  `json:"access"`

	// Result holds the claims on every stored tensor, for those who list tensors.
	Result *reconcile.Result `json:"-"`
	// Described is the description, nil without one.
	Described *estimator.Model `json:"-"`
	// Config is the config that was read, nil without one.
	Config *hfconfig.Config `json:"-"`
}

// Source says where the model was read.
type Source struct {
	source.Info
	Complete         bool     `json:"complete"`
	UnavailableFiles []string `json:"unavailable_files,omitempty"`
	Weights          string   `json:"weights,omitempty"` // the set that was counted
	Files            int      `json:"files"`             // of that set
	FileBytes        int64    `json:"file_bytes"`        // their sizes, headers included

	// Declared is what the Hub says of the repository's parameters, nil where that
	// is nothing.
	Declared *source.Figures `json:"declared,omitempty"`
}

// Model says what the model is.
type Model struct {
	ModelType    string `json:"model_type"`
	Architecture string `json:"architecture"`
	Described    bool   `json:"described"`
	DType        string `json:"dtype,omitempty"` // dtypes of the stored tensors, most bytes first
	Quantization string `json:"quantization,omitempty"`
}

// Counts are the sizes of the model, each by its own definition; see
// Definitions.
type Counts struct {
	StoredElements         int64  `json:"stored_elements"`
	StoredBytes            int64  `json:"stored_bytes"`
	LogicalParameters      *int64 `json:"logical_parameters"`
	UniqueParameters       *int64 `json:"unique_parameters"`
	NonEmbeddingParameters *int64 `json:"non_embedding_parameters"`
	ActiveParameters       *int64 `json:"active_parameters"`
	EstimatedParameters    *int64 `json:"estimated_parameters"`
}

// Definition is a count with what it counts.
type Definition struct {
	Name, Meaning string
	Value         *int64
}

// Definitions lists the counts in the order in which they are printed.
func (c *Counts) Definitions() []Definition {
	return []Definition{
		{"unique parameters", "loaded by the architecture, ties once", c.UniqueParameters},
		{"stored elements", "all elements of all tensors", &c.StoredElements},
		{"logical parameters", "stored parameters, unpacked", c.LogicalParameters},
		{"without embeddings", "unique, no look-ups, no untied head", c.NonEmbeddingParameters},
		{"active per token", "unique that one token uses", c.ActiveParameters},
		{"estimated from config", "unique, by the config alone", c.EstimatedParameters},
	}
}

// Formula is the first stretch of the ledger in symbols.
type Formula struct {
	Textbook      *string            `json:"textbook"`
	TextbookValue *int64             `json:"textbook_value"`
	Derived       *string            `json:"derived"`
	DerivedValue  *int64             `json:"derived_value"`
	Symbols       []estimator.Symbol `json:"symbols,omitempty"`
	Notes         []string           `json:"notes,omitempty"`

	UntiedTextbookValue *int64 `json:"untied_textbook_value,omitempty"` // 12·N·D² + 2·V·D, the same with a head of its own; in estimates
}

// Ledger is a sum: the textbook's value (0 where it is null) and the rows of
// the formula stage are the estimated parameters; with the rows of the estimate
// stage and what is unexplained they are the stored elements.
type Ledger struct {
	Rows               []reconcile.Row `json:"rows"`
	Unexplained        *int64          `json:"unexplained"`
	UnexplainedTensors []string        `json:"unexplained_tensors"`
}

// RoleSum is what tensors of one role hold.
type RoleSum struct {
	Role     string `json:"role"`
	Inferred bool   `json:"inferred,omitempty"` // guessed from names
	Tensors  int64  `json:"tensors"`
	Elements int64  `json:"elements"`
	Bytes    int64  `json:"bytes"`
}

// DTypeSum is what tensors of one dtype hold.
type DTypeSum struct {
	DType    string `json:"dtype"`
	Tensors  int64  `json:"tensors"`
	Elements int64  `json:"elements"`
	Bytes    int64  `json:"bytes"`
}

// LayerSum is what one layer holds, module by module.
type LayerSum struct {
	Stack      string      `json:"stack"` // such as h, model.layers
	Layer      int64       `json:"layer"`
	Elements   int64       `json:"elements"`
	Parameters int64       `json:"parameters"` // logical: quantised weights unpacked, buffers and bookkeeping apart
	Bytes      int64       `json:"bytes"`
	Modules    []ModuleSum `json:"modules,omitempty"`
}

// ModuleSum is what one module of a layer holds, weight and bias together; equal
// experts are summed.
type ModuleSum struct {
	Module   string `json:"module"`
	Elements int64  `json:"elements"`               // logical, of what is a parameter
	Apart    bool   `json:"no_parameter,omitempty"` // a buffer, or bookkeeping of a quantisation
}

// ShardSum is what one file holds.
type ShardSum struct {
	File        string `json:"file"`
	Tensors     int64  `json:"tensors"`
	Elements    int64  `json:"elements"`
	Bytes       int64  `json:"bytes"` // tensor data
	HeaderBytes int64  `json:"header_bytes"`
	FileBytes   *int64 `json:"file_bytes"`
	Unavailable bool   `json:"unavailable,omitempty"`
}

// Estimate is what a config alone promises.
type Estimate struct {
	SchemaVersion string            `json:"schema_version"`
	Source        source.Info       `json:"source"`
	Model         Model             `json:"model"`
	Counts        EstimateCounts    `json:"counts"`
	Formula       Formula           `json:"formula"`
	Ledger        Ledger            `json:"ledger"`
	Findings      []finding.Finding `json:"findings"`

	Described *estimator.Model `json:"-"`
}

// EstimateCounts are the counts that a config alone gives.
type EstimateCounts struct {
	EstimatedParameters    *int64 `json:"estimated_parameters"`
	UniqueParameters       *int64 `json:"unique_parameters"`
	NonEmbeddingParameters *int64 `json:"non_embedding_parameters"`
	ActiveParameters       *int64 `json:"active_parameters"`
	StoredElements         *int64 `json:"stored_elements"` // what saving the model would store

	BF16Bytes *big.Int `json:"bf16_bytes"` // of the unique parameters, two bytes each
}
