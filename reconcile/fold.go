package reconcile

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/safetensors"
)

// mostNumbers is how many numbers of one name are taken out; further ones stay
// as they are, in names as in descriptions.
const mostNumbers = 4

// group is all stored tensors that differ only in the numbers of their names.
type group struct {
	template string // name with "*" where a number stands, as the file spells it
	name     string // the same after the renames that the checkpoint as a whole calls for
	dtype    safetensors.DType
	shape    []int64
	members  []member // not yet claimed
	packed   *packing // nil where the tensors hold the weights as they are
	claimed  int64    // scales of a cache, once claimed
}

// member is one tensor of a group.
type member struct {
	tensor *safetensors.Tensor
	file   *safetensors.File
	number [mostNumbers]int32
}

// each returns the elements of one member.
func (g *group) each() int64 {
	n := int64(1)
	for _, d := range g.shape {
		n *= d
	}
	return n
}

// segmentSeed makes the template hashes of one process comparable.
var segmentSeed = maphash.MakeSeed()

type groupKey struct {
	template uint64
	dtype    safetensors.DType
	rank     int8
	shape    [4]int64 // of higher ranks the rest is compared in full
}

// foldCheckpoint sorts the tensors of a checkpoint into groups, in the order in
// which they first occur.
func foldCheckpoint(checkpoint *safetensors.Checkpoint) []*group {
	var groups []*group
	index := make(map[groupKey]*group)
	var scratch []byte
	for file, tensor := range checkpoint.All() {
		var m member
		m.tensor, m.file = tensor, file
		scratch, m.number = foldName(scratch[:0], tensor.Name)
		key := groupKey{template: maphash.Bytes(segmentSeed, scratch), dtype: tensor.DType, rank: int8(min(len(tensor.Shape), 127))}
		copy(key.shape[:], tensor.Shape)
		g := index[key]
		for g != nil && (g.template != string(scratch) || !slices.Equal(g.shape, tensor.Shape)) {
			key.template++ // another name under the same hash
			g = index[key]
		}
		if g == nil {
			g = &group{template: string(scratch), dtype: tensor.DType, shape: tensor.Shape}
			g.name = g.template
			index[key] = g
			groups = append(groups, g)
		}
		g.members = append(g.members, m)
	}
	return groups
}

// foldName appends the name to buffer with "*" for each segment that is a
// number in its usual spelling, and returns the numbers.
func foldName(buffer []byte, name string) ([]byte, [mostNumbers]int32) {
	var numbers [mostNumbers]int32
	found, start := 0, 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '.' {
			continue
		}
		segment := name[start:i]
		if n, ok := smallNumber(segment); ok && found < mostNumbers {
			numbers[found] = n
			found++
			buffer = append(buffer, '*')
		} else {
			buffer = append(buffer, segment...)
		}
		if i < len(name) {
			buffer = append(buffer, '.')
		}
		start = i + 1
	}
	return buffer, numbers
}

// smallNumber reads a segment of up to nine digits without leading zeros.
func smallNumber(s string) (int32, bool) {
	if len(s) == 0 || len(s) > 9 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	var n int32
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int32(s[i]-'0')
	}
	return n, true
}

// places counts the numbers that a template takes.
func places(template string) int {
	n := 0
	for segment := range strings.SplitSeq(template, ".") {
		if segment == "*" {
			n++
		}
	}
	return n
}
