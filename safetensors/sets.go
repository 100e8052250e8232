package safetensors

// Format is the kind of file that weights are stored in.
type Format string

// The formats of weight files. This package reads the first.
const (
	FormatSafetensors Format = "safetensors"
	FormatPickle      Format = "pickle" // .bin, .pt, .pth, .ckpt
	FormatGGUF        Format = "gguf"
	FormatOther       Format = "other" // .h5, .msgpack, .onnx, .npz
)

// Set is one coherent set of weight files: a single file, or shards.
type Set struct {
	Folder  string // slash-separated, empty for the root
	Stem    string // "model", "consolidated", "adapter_model", "diffusion_pytorch_model", …
	Variant string // "fp16" in model.fp16.safetensors; empty for none
	Format  Format

	Index string // path of the index; empty for none
	Files []Part // the weight files that are there, by number

	// Of is the number of shards that the file names state, 0 for a single file.
	Of      int
	Missing []string // paths of the shards that the numbering calls for and that are not there
}

// Part is one weight file of a set.
type Part struct {
	Path   string
	Size   int64 // bytes; -1 when unknown
	Number int   // as in the name; 0 for a single file
}
