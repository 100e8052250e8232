// Package safetensorstest writes small safetensors files for tests and serves
// them as a source, without a disk and without the bytes of large tensors.
package safetensorstest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hf-inspect/hf-inspect/safetensors"
)

// Tensor is a tensor to write. Data is filled up with zeros.
type Tensor struct {
	Name  string
	DType string // as in the header, "BF16"
	Shape []int64
	Data  []byte
}

// T is a Tensor without data.
func T(name, dtype string, shape ...int64) Tensor {
	return Tensor{Name: name, DType: dtype, Shape: shape}
}

// Header writes the header of a file that holds the tensors in this order,
// padded to a multiple of eight bytes, and returns it with the size of the data
// in bytes. Metadata may be nil. It panics on a dtype that the format does not
// have.
func Header(metadata map[string]string, tensors ...Tensor) (header []byte, dataSize int64) {
	header = []byte{'{'}
	if metadata != nil {
		header = append(header, `"__metadata__":`...)
		header = append(header, quote(metadata)...)
	}
	for _, t := range tensors {
		if len(header) > 1 {
			header = append(header, ',')
		}
		shape := t.Shape
		if shape == nil {
			shape = []int64{}
		}
		end := dataSize + size(t)
		header = fmt.Appendf(header, `%s:{"dtype":%s,"shape":%s,"data_offsets":[%d,%d]}`,
			quote(t.Name), quote(t.DType), quote(shape), dataSize, end)
		dataSize = end
	}
	header = append(header, '}')
	for len(header)%8 != 0 {
		header = append(header, ' ')
	}
	return header, dataSize
}

// Build writes a whole file.
func Build(tensors ...Tensor) []byte {
	header, dataSize := Header(nil, tensors...)
	file := Raw(string(header), dataSize)
	at := int64(8 + len(header))
	for _, t := range tensors {
		copy(file[at:at+size(t)], t.Data)
		at += size(t)
	}
	return file
}

// Raw writes a file of any header, right or wrong, and zeros for data.
func Raw(header string, dataSize int64) []byte {
	file := make([]byte, 8+int64(len(header))+dataSize)
	binary.LittleEndian.PutUint64(file, uint64(len(header)))
	copy(file[8:], header)
	return file
}

// Index writes an index; totalSize is raw JSON, "" for none.
func Index(totalSize string, weightMap map[string]string) []byte {
	metadata := "{}"
	if totalSize != "" {
		metadata = `{"total_size":` + totalSize + `}`
	}
	text := []byte(`{"metadata":` + metadata + `,"weight_map":{`)
	for i, name := range slices.Sorted(maps.Keys(weightMap)) {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, quote(name)...)
		text = append(text, ':')
		text = append(text, quote(weightMap[name])...)
	}
	return append(text, "}}"...)
}

func size(t Tensor) int64 {
	d, ok := safetensors.ParseDType(t.DType)
	if !ok {
		panic("safetensorstest: unknown dtype " + t.DType)
	}
	tensor := safetensors.Tensor{DType: d, Shape: t.Shape}
	return tensor.Bytes()
}

func quote(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, integers and maps of them always encode
	}
	return text
}
