package safetensors

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/source"
)

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

	Index     string // path of the index; empty for none
	IndexSize int64  // its size in bytes; -1 when unknown

	Files []Part // the weight files that are there, by number

	// Of is the number of shards that the file names state, 0 for a single file
	// and where only an index is there.
	Of      int
	Missing []string // paths of the shards that the numbering calls for and that are not there

	// Strays are files beside an index that look like parts of its set and are not
	// in its numbering: model-00003-of-00003 beside two shards of 2, model_mtp.
	Strays []Part
}

// Part is one weight file of a set.
type Part struct {
	Path   string
	Size   int64 // bytes; -1 when unknown
	Number int   // as in the name; 0 for a single file
}

// Size is the sum of the file sizes in bytes, -1 where one is not known.
func (s *Set) Size() int64 {
	var sum Totals
	for _, part := range s.Files {
		if part.Size < 0 {
			return -1
		}
		sum.add(0, part.Size)
	}
	return sum.Bytes
}

// Sharded reports whether the set is more than a single file by name.
func (s *Set) Sharded() bool { return s.Of > 0 || s.Index != "" }

// Name is what the set is called in a message: its file, its index, or the
// pattern of its shards.
func (s *Set) Name() string {
	switch {
	case s.Index != "":
		return s.Index
	case len(s.Files) == 1:
		return s.Files[0].Path
	case len(s.Files) > 1:
		return s.Files[0].Path + fmt.Sprintf(" … (%d files)", len(s.Files))
	}
	return path.Join(s.Folder, s.Stem)
}

// maxMissing bounds the list of missing shards: a name may claim any number.
const maxMissing = 10_000

// Sets finds the sets of weights among the files of a source, ordered by folder
// and name. It looks at names only. Files of one folder, stem, variant and shard
// count belong together; an index belongs to the shards of its stem and variant,
// never to a single file, which is a set of its own.
func Sets(files []source.File) []Set {
	found := make(map[setKey]*Set)
	for _, file := range files {
		w, ok := parseWeightName(file.Path)
		if !ok || w.index {
			continue
		}
		set := found[w.setKey]
		if set == nil {
			set = &Set{Folder: w.folder, Stem: w.stem, Variant: w.variant, Format: w.format, Of: w.of}
			found[w.setKey] = set
		}
		set.Files = append(set.Files, Part{Path: file.Path, Size: file.Size, Number: w.number})
	}
	for _, file := range files {
		if w, ok := parseWeightName(file.Path); ok && w.index {
			attachIndex(found, w, file)
		}
	}
	list := make([]Set, 0, len(found))
	for _, set := range found {
		slices.SortFunc(set.Files, func(a, b Part) int {
			return cmp.Or(cmp.Compare(a.Number, b.Number), strings.Compare(a.Path, b.Path))
		})
		set.findMissing()
		list = append(list, *set)
	}
	slices.SortFunc(list, func(a, b Set) int {
		return cmp.Or(strings.Compare(a.Folder, b.Folder), strings.Compare(a.Stem, b.Stem),
			strings.Compare(a.Variant, b.Variant), strings.Compare(string(a.Format), string(b.Format)), cmp.Compare(a.Of, b.Of))
	})
	return gatherStrays(list)
}

// gatherStrays moves files that look like forgotten parts of an indexed set from
// sets of their own to that set.
func gatherStrays(sets []Set) []Set {
	for i := range sets {
		indexed := &sets[i]
		if indexed.Index == "" || indexed.Format != FormatSafetensors {
			continue
		}
		for j := range sets {
			if j != i && isStray(&sets[j], indexed) {
				indexed.Strays = append(indexed.Strays, sets[j].Files...)
				sets[j].Files = nil
			}
		}
	}
	return slices.DeleteFunc(sets, func(s Set) bool { return len(s.Files) == 0 && s.Index == "" })
}

// isStray tells a forgotten part of an indexed set from a set of its own. A
// complete numbering is a set; so is a single file of the set's own stem, which
// loaders prefer to the index.
func isStray(s, indexed *Set) bool {
	if s.Index != "" || s.Folder != indexed.Folder || s.Variant != indexed.Variant || s.Format != indexed.Format {
		return false
	}
	if s.Of > 0 {
		return s.Stem == indexed.Stem && len(s.Missing) > 0
	}
	return s.Stem != indexed.Stem && (strings.HasPrefix(s.Stem, indexed.Stem) || strings.Contains(s.Stem, "mtp"))
}

// attachIndex gives an index to the shards of its stem; of several numberings to
// the one with most files, the others are left-overs. Without shards it is a set
// of its own.
func attachIndex(found map[setKey]*Set, w weightName, index source.File) {
	var best *Set
	for key, set := range found {
		if key.of == 0 || key.folder != w.folder || key.stem != w.stem || key.variant != w.variant || key.format != w.format {
			continue
		}
		if best == nil || len(set.Files) > len(best.Files) || len(set.Files) == len(best.Files) && set.Of < best.Of {
			best = set
		}
	}
	if best == nil {
		best = &Set{Folder: w.folder, Stem: w.stem, Variant: w.variant, Format: w.format}
		w.of = -1 // a key of its own beside the single file
		found[w.setKey] = best
	}
	best.Index, best.IndexSize = index.Path, index.Size
}

// findMissing lists the shards that the numbering calls for. Numbers begin at 1,
// or at 0 in some old sets.
func (s *Set) findMissing() {
	if s.Of == 0 || len(s.Files) >= s.Of {
		return
	}
	first := 1
	have := make(map[int]bool, len(s.Files))
	for _, part := range s.Files {
		have[part.Number] = true
		first = min(first, part.Number)
	}
	for number := first; number < first+s.Of && len(s.Missing) < maxMissing; number++ {
		if !have[number] {
			s.Missing = append(s.Missing, renumber(s.Files[0].Path, number))
		}
	}
}

// renumber puts another number into the name of a shard.
func renumber(shard string, number int) string {
	of := strings.LastIndex(shard, "-of-")
	dash := strings.LastIndexByte(shard[:of], '-')
	width := of - dash - 1
	return shard[:dash+1] + fmt.Sprintf("%0*d", width, number) + shard[of:]
}
