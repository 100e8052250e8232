package safetensors

// Index is a model.safetensors.index.json: it says which file holds which
// tensor.
type Index struct {
	Path string

	Shards  []string     // files named, in order of first appearance, as spelled
	Entries []IndexEntry // one a tensor, in order; of a name that occurs twice the last

	TotalSize       Declared // metadata.total_size: bytes of tensor data
	TotalParameters Declared // metadata.total_parameters: what its writer counts, see docs of the ledger

	Faults  []*Error // what the reference library would not load, or what must not be followed
	Notices []Notice
}

// IndexEntry says in which shard a tensor is.
type IndexEntry struct {
	Name  string
	Shard int32 // position in Index.Shards
}

// Declared is a number that a file states about the checkpoint, kept as it is
// spelled because it may be anything: 13504, 13504.0, "13504", "not-a-number".
type Declared struct {
	Raw string // raw JSON; empty when absent
}
