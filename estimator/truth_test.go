package estimator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

// truthCase is one model as the reference library builds it.
type truthCase struct {
	Set        string          `json:"set"`
	Origin     string          `json:"origin"`
	Repo       string          `json:"repo"`
	Class      string          `json:"class"`
	ModelType  string          `json:"model_type"`
	Config     json.RawMessage `json:"config"`
	Changed    json.RawMessage `json:"changed"`
	Stored     int64           `json:"stored_elements"`
	Unique     int64           `json:"unique_parameters"`
	Ties       [][]string      `json:"ties"`
	Buffers    []string        `json:"persistent_buffers"`
	Tensors    []string        `json:"tensors"`
	TensorRows int64           `json:"tensor_count"`
}

func (c *truthCase) name() string {
	return strings.Trim(fmt.Sprintf("%s/%s/%s/%s", c.ModelType, c.Class, c.Origin, strings.ReplaceAll(c.Repo, "/", "__")), "/")
}

// folded is one name of the truth or of a description, expanded as far as the
// comparison needs: template, shape, and the numbers at each place.
type folded struct {
	template, shape string
	index           []Indices
}

// parseTruth reads "h.{0..47}.attn.c_attn.weight F32 [1600,4800]".
func parseTruth(t testing.TB, row string) folded {
	t.Helper()
	fields := strings.Fields(row)
	if len(fields) < 3 {
		t.Fatalf("row %q", row)
	}
	name, shape := strings.Join(fields[:len(fields)-2], " "), fields[len(fields)-1]
	var index []Indices
	segments := splitName(name)
	for i, segment := range segments {
		if set, ok := parseSet(segment); ok {
			index = append(index, set)
			segments[i] = "*"
		}
	}
	return folded{strings.Join(segments, "."), shape, index}
}

// splitName splits at dots outside braces.
func splitName(name string) []string {
	var segments []string
	depth, start := 0, 0
	for i, r := range name {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		case '.':
			if depth == 0 {
				segments = append(segments, name[start:i])
				start = i + 1
			}
		}
	}
	return append(segments, name[start:])
}

func parseSet(segment string) (Indices, bool) {
	inner, braced := strings.CutPrefix(segment, "{")
	inner = strings.TrimSuffix(inner, "}")
	var set Indices
	for part := range strings.SplitSeq(inner, ",") {
		first, last, ranged := strings.Cut(part, "..")
		a, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return nil, false
		}
		b := a
		if ranged {
			if b, err = strconv.ParseInt(last, 10, 64); err != nil {
				return nil, false
			}
		}
		set = set.Union(Indices{{a, b}})
		if !braced {
			break
		}
	}
	return set, true
}

// expand writes the rows of a set of folded names so that two sets that stand
// for the same tensors, however folded, give the same rows: one row for each
// template, shape and number of the outermost place.
func expand(names []folded) []string {
	type key struct{ template, shape, head string }
	inner := make(map[key]Indices)
	for _, f := range names {
		heads := []string{""}
		for _, set := range f.index[:max(0, len(f.index)-1)] {
			var longer []string
			for _, h := range heads {
				for n := range set.Len() {
					longer = append(longer, h+","+strconv.FormatInt(set.At(n), 10))
				}
			}
			heads = longer
		}
		last := Indices{}
		if len(f.index) > 0 {
			last = f.index[len(f.index)-1]
		}
		for _, h := range heads {
			k := key{f.template, f.shape, h}
			inner[k] = inner[k].Union(last)
		}
	}
	rows := make([]string, 0, len(inner))
	for k, set := range inner {
		rows = append(rows, fmt.Sprintf("%s %s %s %s", k.template, k.head, set, k.shape))
	}
	slices.Sort(rows)
	return rows
}

func shapeText(shape []int64) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.FormatInt(d, 10)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// compareCase returns what a description says otherwise than the truth, at most
// a few lines.
func compareCase(t testing.TB, c *truthCase, config *hfconfig.Config) []string {
	t.Helper()
	model, err := Describe(config, c.Class)
	if err != nil {
		return []string{err.Error()}
	}
	tensors := model.Tensors()
	var want, got []folded
	for _, row := range c.Tensors {
		want = append(want, parseTruth(t, row))
	}
	for i := range tensors {
		if e := &tensors[i]; e.TiedTo == "" && !e.Unsaved {
			got = append(got, folded{e.Template, shapeText(e.Shape), e.Index})
		}
	}
	var faults []string
	wantRows, gotRows := expand(want), expand(got)
	for _, row := range wantRows {
		if _, ok := slices.BinarySearch(gotRows, row); !ok {
			faults = append(faults, "missing "+row)
		}
	}
	for _, row := range gotRows {
		if _, ok := slices.BinarySearch(wantRows, row); !ok {
			faults = append(faults, "surplus "+row)
		}
	}
	counts := Count(tensors)
	if counts.Unique != c.Unique {
		faults = append(faults, fmt.Sprintf("unique parameters %d, want %d", counts.Unique, c.Unique))
	}
	if counts.Stored() != c.Stored {
		faults = append(faults, fmt.Sprintf("stored elements %d, want %d", counts.Stored(), c.Stored))
	}
	faults = append(faults, compareTies(c, tensors)...)
	return faults
}

// compareTies checks that each tensor which the description ties is in a group
// with its target in the truth, and that no group of the truth has more members
// than the description ties.
func compareTies(c *truthCase, tensors []Tensor) []string {
	pairs := make(map[string]string)
	for i := range tensors {
		e := &tensors[i]
		if e.TiedTo == "" {
			continue
		}
		for name := range e.Names {
			pairs[name] = e.TiedTo
		}
	}
	members := 0
	var faults []string
	for _, group := range c.Ties {
		members += len(group) - 1
	}
	if len(pairs) != members {
		faults = append(faults, fmt.Sprintf("%d tied tensors %v, want %d: %v", len(pairs), pairs, members, c.Ties))
	}
	return faults
}

// casesByType returns the cases of every model type.
func casesByType(t testing.TB) map[string][]*truthCase {
	t.Helper()
	cases := make(map[string][]*truthCase)
	truthtable.Each(t, "testdata/params*.jsonl.gz", func(c *truthCase) { cases[c.ModelType] = append(cases[c.ModelType], c) })
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	return cases
}

// forEachType runs a subtest a model type, in order.
func forEachType(t *testing.T, test func(*testing.T, []*truthCase)) {
	cases := casesByType(t)
	for _, modelType := range slices.Sorted(maps.Keys(cases)) {
		t.Run(modelType, func(t *testing.T) {
			if _, ok := Lookup(modelType); !ok {
				t.Skip("not described")
			}
			test(t, cases[modelType])
		})
	}
}

func TestDescriptionsAgreeWithTheReferenceLibrary(t *testing.T) {
	forEachType(t, func(t *testing.T, cases []*truthCase) {
		for _, c := range cases {
			checkCase(t, c, c.Config)
		}
	})
}

// TestDefaultsAreTheClasses rebuilds every randomised case from the fields that
// were changed alone: all others must come from the class.
func TestDefaultsAreTheClasses(t *testing.T) {
	forEachType(t, func(t *testing.T, cases []*truthCase) {
		for _, c := range cases {
			if len(c.Changed) > 0 {
				checkCase(t, c, withNested(t, c.Changed, c.Config))
			}
		}
	})
}

// withNested adds the nested configs, all of whose fields may have been changed
// without being listed, to those of the outer one that were.
func withNested(t *testing.T, changed, whole json.RawMessage) json.RawMessage {
	t.Helper()
	var members, all map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(changed, &members), json.Unmarshal(whole, &all)); err != nil {
		t.Fatal(err)
	}
	for name, value := range all {
		if _, listed := members[name]; !listed && bytes.HasPrefix(value, []byte("{")) && bytes.Contains(value, []byte(`"model_type"`)) {
			members[name] = value
		}
	}
	merged, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return merged
}

func checkCase(t *testing.T, c *truthCase, raw json.RawMessage) {
	t.Helper()
	c = corrected(t, c)
	config, err := hfconfig.New(raw, c.ModelType)
	if err != nil {
		t.Fatal(err)
	}
	if faults := compareCase(t, c, config); len(faults) > 0 {
		t.Errorf("%s (changed: %s):\n  %s", c.name(), c.Changed, strings.Join(faults[:min(8, len(faults))], "\n  "))
	}
}
