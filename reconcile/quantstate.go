package reconcile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// quantState is what bitsandbytes keeps of a 4-bit weight in JSON: its
// functional.QuantState, with the tensors of the same object beside it.
type quantState struct {
	Kind            string   `json:"quant_type"`
	BlockSize       int64    `json:"blocksize"`
	DType           string   `json:"dtype"` // of the weight once unpacked
	Shape           []int64  `json:"shape"`
	NestedBlockSize *int64   `json:"nested_blocksize"`
	NestedDType     *string  `json:"nested_dtype"`
	NestedOffset    *float64 `json:"nested_offset"`
}

// parseQuantState reads the JSON. The library refuses fields that it does not
// know.
func parseQuantState(data []byte) (*quantState, error) {
	var s quantState
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("is not the JSON of a quantisation state: %w", err)
	}
	if d.More() || d.InputOffset() < int64(len(bytes.TrimRight(data, " \t\r\n"))) {
		return nil, fmt.Errorf("is not the JSON of a quantisation state: more follows after %d bytes", d.InputOffset())
	}
	if len(s.Shape) == 0 || len(s.Shape) > mostRank || product(s.Shape) <= 0 {
		return nil, fmt.Errorf("has no usable shape: %v", s.Shape[:min(len(s.Shape), mostRank)])
	}
	return &s, nil
}

// statePrefix ends in the kind of the numbers.
const statePrefix = ".weight.quant_state.bitsandbytes__"

// contradictions compares the state with the tensors that it speaks of.
func (s *quantState) contradictions(b *bundle, suffix string) (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if kind := strings.TrimPrefix(suffix, statePrefix); s.Kind != kind {
		say("says %q, its name %s", s.Kind, kind)
	}
	if !unpackedDTypes[s.DType] {
		say("has no dtype to unpack to: %q", s.DType)
	}
	n := product(s.Shape)
	if held := 2 * product(b.carrier.shape) * int64(b.carrier.dtype.Bits()) / 8; held >= 0 && cd(n, 2) > held/2 {
		say("is for %d weights, %s %s holds %d", n, b.carrier.dtype, shapeText(b.carrier.shape), held)
	}
	blocks := b.shapeOf(".weight.absmax")
	if len(blocks) == 1 && (s.BlockSize <= 0 || cd(n, s.BlockSize) != blocks[0]) {
		say("has blocks of %d, absmax is %s", s.BlockSize, shapeText(blocks))
	}
	nested := b.shapeOf(".weight.nested_absmax")
	switch given := s.NestedBlockSize != nil && s.NestedDType != nil && s.NestedOffset != nil; {
	case nested == nil && (s.NestedBlockSize != nil || s.NestedDType != nil || s.NestedOffset != nil):
		say("is nested, there is no nested_absmax")
	case nested == nil:
	case !given:
		say("has not all of nested_blocksize, nested_dtype and nested_offset, nested_absmax is there")
	case len(nested) == 1 && len(blocks) == 1 && (*s.NestedBlockSize <= 0 || cd(blocks[0], *s.NestedBlockSize) != nested[0]):
		say("has nested blocks of %d, nested_absmax is %s", *s.NestedBlockSize, shapeText(nested))
	case !unpackedDTypes[*s.NestedDType]:
		say("has no dtype for its scales: %q", *s.NestedDType)
	}
	return list
}

// unpackedDTypes are torch's names of what the library unpacks to.
var unpackedDTypes = map[string]bool{"float16": true, "bfloat16": true, "float32": true}

// stateLengths bounds the JSON in bytes: only the dtype, and the offset of
// nested scales, do not follow from the weight.
func stateLengths(kind string, nested bool) func(w *weight) (least, most int64) {
	return func(w *weight) (least, most int64) {
		shape := strings.ReplaceAll(shapeText(w.shape), ",", ", ")
		n := int64(len(fmt.Sprintf(`{"quant_type": "%s", "blocksize": %d, "dtype": "", "shape": %s}`, kind, w.span(), shape)))
		least, most = n+int64(len("float16")), n+int64(len("bfloat16"))
		if nested {
			n = int64(len(`, "nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": `))
			least, most = least+n+int64(len("0.0")), most+n+int64(len("-1.2345678901234567e-300"))
		}
		if len(w.shape) == 1 { // a number of weights: rows and columns are not known
			most += int64(len(", 0"))
		}
		return least, most
	}
}

// checkStates finds states that contradict the tensors beside them.
func (m *matching) checkStates() {
	for _, u := range m.unpacked {
		s := u.shapeHolder()
		if s == nil || !strings.HasPrefix(s.suffix, statePrefix) {
			continue
		}
		var faults saying
		for i := range s.members {
			state := m.states[s.members[i].tensor.Name]
			if state == nil {
				continue
			}
			for _, text := range state.contradictions(u.bundle, s.suffix) {
				faults.add(text, s.members[i])
			}
		}
		m.findEach("HFI506", s.template, &faults)
	}
}

// saying is what is said of tensors of one template: the same of many in one
// finding.
type saying struct {
	texts []string
	of    map[string][]member
}

func (s *saying) add(text string, one member) {
	if s.of == nil {
		s.of = make(map[string][]member)
	}
	if s.of[text] == nil {
		s.texts = append(s.texts, text)
	}
	s.of[text] = append(s.of[text], one)
}

func (m *matching) findEach(code, template string, s *saying) {
	for _, text := range s.texts {
		m.find(finding.New(code, fmt.Sprintf("%s %s", namesOf(template, s.of[text]), text)).About(names(s.of[text])...))
	}
}
