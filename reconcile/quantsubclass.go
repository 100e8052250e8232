package reconcile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// subclass is what torchao keeps of a tensor in the files' __metadata__, under
// the name of the weight: its safetensors_utils writes it and refuses files
// without.
type subclass struct {
	Type string `json:"_type"`
	Data struct {
		BlockSize json.RawMessage `json:"block_size"` // of some classes a number
		Shape     []int64         `json:"shape"`
	} `json:"_data"`
	Names []string `json:"_tensor_data_names"`
}

const subclassPrefix = "._weight_"

// checkSubclasses holds torchao's tensors against the subclasses that the
// metadata names.
func (m *matching) checkSubclasses() {
	for _, u := range m.unpacked {
		if u.scheme.method != "torchao" {
			continue
		}
		var faults saying
		for i := range u.carrier.members {
			for _, text := range m.againstSubclass(u, i) {
				faults.add(text, u.carrier.members[i])
			}
		}
		m.findEach("HFI506", u.carrier.template, &faults)
	}
}

func (m *matching) againstSubclass(u *unpacked, i int) []string {
	text, ok := m.metadata(u.module(i) + u.scheme.logical)
	if !ok {
		if !m.in.Checkpoint.Complete {
			return nil // another file can have it
		}
		return []string{"has no tensor subclass in __metadata__"}
	}
	var s subclass
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return []string{fmt.Sprintf("has no usable tensor subclass in __metadata__: %v", err)}
	}
	return s.contradictions(u)
}

func (s *subclass) contradictions(u *unpacked) (list []string) {
	if !slices.Contains(u.scheme.formats, s.Type) {
		list = append(list, fmt.Sprintf("is %s, __metadata__ says %q", u.family(), s.Type))
	}
	stored := []string{strings.TrimPrefix(u.carrier.suffix, subclassPrefix)}
	for i := range u.parts {
		if name, ok := strings.CutPrefix(u.parts[i].suffix, subclassPrefix); ok {
			stored = append(stored, name)
		}
	}
	named := slices.Sorted(slices.Values(s.Names))
	if slices.Sort(stored); !slices.Equal(named, stored) {
		list = append(list, fmt.Sprintf("stands with %s, __metadata__ says %s", strings.Join(stored, ", "), strings.Join(named, ", ")))
	}
	var block []int64
	if json.Unmarshal(s.Data.BlockSize, &block) == nil && len(block) == 2 && u.scheme.grains != nil && !u.hasGrain(grain{block[0], block[1], 2}) {
		list = append(list, fmt.Sprintf("has a scale for each %s, __metadata__ says for each block of %d×%d", grainText(u.params.grain), block[0], block[1]))
	}
	if s.Data.Shape != nil && !slices.Equal(s.Data.Shape, u.shape) {
		list = append(list, fmt.Sprintf("stands for %s, __metadata__ says %s", shapeText(u.shape), shapeText(s.Data.Shape)))
	}
	return list
}

// metadata looks a key up in the headers; of several the last file counts, as
// the library merges them.
func (m *matching) metadata(key string) (text string, ok bool) {
	for _, f := range m.in.Checkpoint.Files {
		if f.Header == nil {
			continue
		}
		if found, has := f.Header.Metadata[key]; has {
			text, ok = found, true
		}
	}
	return text, ok
}
