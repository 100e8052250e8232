package safetensors

import "strconv"

// DisagreementKind says in what an index and the headers differ.
type DisagreementKind uint8

// The kinds of [Disagreement].
const (
	IndexedButAbsent       DisagreementKind = iota // the index names a tensor that no file has
	InAnotherShard                                 // the tensor is in another file than the index says
	NotIndexed                                     // the index never names the tensor
	UnusedShard                                    // the index never names the file
	TotalSizeDiffers                               // metadata.total_size is not the sum of the headers
	TotalParametersDiffers                         // metadata.total_parameters is not the number of stored elements
	DeclarationNotNumber                           // a declared total is not a whole number
)

var disagreementNames = [...]string{
	IndexedButAbsent:       "indexed_but_absent",
	InAnotherShard:         "in_another_shard",
	NotIndexed:             "not_indexed",
	UnusedShard:            "unused_shard",
	TotalSizeDiffers:       "total_size_differs",
	TotalParametersDiffers: "total_parameters_differs",
	DeclarationNotNumber:   "declaration_not_a_number",
}

// String is a stable identifier, "in_another_shard" for example.
func (k DisagreementKind) String() string {
	if int(k) < len(disagreementNames) {
		return disagreementNames[k]
	}
	return "disagreement(" + strconv.Itoa(int(k)) + ")"
}

// MarshalText writes the identifier.
func (k DisagreementKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Disagreement is one point in which the index and the headers differ. The
// headers are right: they are what a loader reads.
//
// TotalParametersDiffers is no fault by itself: writers of quantised or tied
// checkpoints declare logical or unique parameters, not stored elements. The
// ledger knows; this package only states both numbers.
type Disagreement struct {
	Kind   DisagreementKind
	Tensor string // concerned tensor; empty for whole files and totals

	Indexed string // file that the index names for the tensor, as a path of the source; as spelled if unsafe
	Actual  string // file that holds the tensor, or the unused file

	Declared string           // total as the index spells it, raw JSON
	Counted  int64            // the same total from the headers: bytes, or elements
	Of       DisagreementKind // DeclarationNotNumber: which total it is about

	// Counts is true for an unused file whose tensors are counted all the same,
	// since they extend the set.
	Counts bool
}
