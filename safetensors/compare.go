package safetensors

import (
	"path"
	"slices"
)

// comparison looks at a checkpoint as a whole once its headers are read: what is
// missing, what is there twice, where the index is wrong.
type comparison struct {
	c           *Checkpoint
	indexedOnly bool

	table   *nameTable
	entries []tensorAt // the counted tensors, under the numbers of the table
}

// tensorAt is a counted tensor and its file.
type tensorAt struct {
	tensor *Tensor
	file   *File
}

func newComparison(c *Checkpoint, indexedOnly bool) *comparison {
	return &comparison{c: c, indexedOnly: indexedOnly}
}

func (m *comparison) run() {
	m.findUnavailable()
	m.fileTensors()
	if m.c.Index != nil {
		m.c.Notices = append(m.c.Notices, m.c.Index.Notices...)
		m.compareTotals() // before strays join: the index does not count them
	}
	m.judgeStrays()
	if m.c.Index != nil && len(m.c.Index.Entries) > 0 {
		m.compareIndex()
	}
	if m.c.Totals().Saturated {
		m.c.Faults = append(m.c.Faults, &Error{Kind: KindTotalOverflow, File: m.c.Set.Name(), Offset: -1,
			Detail: "the sum over all tensors does not fit 63 bits; the headers claim more than any file can hold"})
	}
}

func (m *comparison) findUnavailable() {
	for _, file := range m.c.Files {
		if file.Err != nil {
			m.c.Unavailable = append(m.c.Unavailable, file.Path)
			m.c.Complete = false
		}
	}
}

// fileTensors files all counted tensors by name and finds those that are there
// twice.
func (m *comparison) fileTensors() {
	total := 0
	for _, file := range slices.Concat(m.c.Files, m.c.Unused) {
		if file.Header != nil {
			total += len(file.Header.Tensors)
		}
	}
	m.table = newNameTable(total)
	m.entries = make([]tensorAt, 0, total)
	for _, file := range m.c.Files {
		m.fileHeader(file)
	}
}

func (m *comparison) fileHeader(file *File) {
	if file.Header == nil {
		return
	}
	for i := range file.Header.Tensors {
		t := &file.Header.Tensors[i]
		earlier, twice := m.table.put(t.Name, len(m.entries), m.nameOf)
		if !twice {
			m.entries = append(m.entries, tensorAt{t, file})
			continue
		}
		first := m.entries[earlier].file
		m.c.Duplicates = append(m.c.Duplicates, Duplicate{t.Name, first, file})
		m.c.Faults = append(m.c.Faults, &Error{Kind: KindDuplicateTensor, File: file.Path, Tensor: t.Name, Offset: int64(t.At),
			Detail: "the tensor is also in " + printable(first.Path) + "; both are counted, a loader keeps one; save the checkpoint again"})
	}
}

func (m *comparison) nameOf(i int) string { return m.entries[i].tensor.Name }

// judgeStrays decides for each stray file whether it extends the set or repeats
// it.
func (m *comparison) judgeStrays() {
	var unused []*File
	for _, file := range m.c.Unused {
		counts := !m.indexedOnly && m.extends(file)
		m.c.Disagreements = append(m.c.Disagreements, Disagreement{Kind: UnusedShard, Actual: file.Path, Counts: counts})
		if counts {
			m.c.Files = append(m.c.Files, file)
			m.fileHeader(file)
		} else {
			unused = append(unused, file)
		}
	}
	m.c.Unused = unused
}

// extends reports whether a file holds tensors and none that the set has.
func (m *comparison) extends(file *File) bool {
	if file.Header == nil || len(file.Header.Tensors) == 0 {
		return false
	}
	for i := range file.Header.Tensors {
		if _, there := m.table.find(file.Header.Tensors[i].Name, m.nameOf); there {
			return false
		}
	}
	return true
}

// compareIndex looks up each name of the index among the headers, and the other
// way round.
func (m *comparison) compareIndex() {
	index := m.c.Index
	paths := make([]string, len(index.Shards))
	for i, shard := range index.Shards {
		paths[i] = shard
		if unsafeReason(shard) == "" {
			paths[i] = path.Join(m.c.Set.Folder, shard)
		}
	}
	excused := m.excused()
	named := make([]bool, len(m.entries))
	for _, entry := range index.Entries {
		at, there := m.table.find(entry.Name, m.nameOf)
		switch want := paths[entry.Shard]; {
		case there:
			named[at] = true
			if actual := m.entries[at].file.Path; actual != want {
				m.disagree(Disagreement{Kind: InAnotherShard, Tensor: entry.Name, Indexed: want, Actual: actual})
			}
		case !excused[want] && !excused[entry.Name]:
			m.disagree(Disagreement{Kind: IndexedButAbsent, Tensor: entry.Name, Indexed: want})
		}
	}
	m.compareFiles(paths)
	for i, entry := range m.entries {
		if !named[i] {
			m.disagree(Disagreement{Kind: NotIndexed, Tensor: entry.tensor.Name, Actual: entry.file.Path})
		}
	}
}

// excused names what is absent for a known reason: files that cannot be read and
// tensors that cannot be counted.
func (m *comparison) excused() map[string]bool {
	excused := make(map[string]bool)
	for _, file := range m.c.Files {
		if file.Header == nil {
			excused[file.Path] = true
			continue
		}
		for i := range file.Header.Excluded {
			excused[file.Header.Excluded[i].Name] = true
		}
	}
	return excused
}

// compareFiles finds counted files of the set's numbering that the index does
// not name; strays are judged already.
func (m *comparison) compareFiles(paths []string) {
	indexed := make(map[string]bool, len(paths))
	for _, file := range paths {
		indexed[file] = true
	}
	for _, part := range m.c.Set.Files {
		counted := slices.ContainsFunc(m.c.Files, func(f *File) bool { return f.Path == part.Path })
		stray := slices.ContainsFunc(m.c.Set.Strays, func(s Part) bool { return s.Path == part.Path })
		if counted && !stray && !indexed[part.Path] {
			m.disagree(Disagreement{Kind: UnusedShard, Actual: part.Path, Counts: true})
		}
	}
}

// compareTotals compares the declared totals with the headers. A set that is not
// complete proves nothing.
func (m *comparison) compareTotals() {
	sum := m.c.Totals()
	m.compareTotal(TotalSizeDiffers, m.c.Index.TotalSize, sum.Bytes)
	m.compareTotal(TotalParametersDiffers, m.c.Index.TotalParameters, sum.Elements)
}

func (m *comparison) compareTotal(kind DisagreementKind, declared Declared, counted int64) {
	if !declared.Present() {
		return
	}
	value, ok := declared.Int64()
	d := Disagreement{Kind: kind, Declared: declared.Raw, Counted: counted}
	if !ok || !declared.IsNumber() {
		wrong := d
		wrong.Kind, wrong.Of = DeclarationNotNumber, kind
		m.disagree(wrong)
	}
	if ok && value != counted && m.c.Complete {
		m.disagree(d)
	}
}

func (m *comparison) disagree(d Disagreement) {
	m.c.Disagreements = append(m.c.Disagreements, d)
}
