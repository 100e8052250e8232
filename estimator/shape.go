package estimator

// Attended is the attention of one kind of layer.
type Attended struct {
	Scores *Scores
	Layers Indices
	Copies int64
}

// Attentions returns the model's attention blocks, equal ones together, those of
// towers left out.
func (m *Model) Attentions() []Attended {
	var list []Attended
	m.walk(func(l *leaf) {
		if l.block.Scores != nil && l.tower == "" {
			list = append(list, Attended{l.block.Scores, l.layer, l.used.Int()})
		}
	})
	return list
}

// Width returns the feed-forward width of the first dense layer, 0 where there
// is none.
func (m *Model) Width() int64 {
	var width int64
	m.walk(func(l *leaf) {
		if width == 0 && l.tower == "" && l.block.Kind == LinearKind && l.block.Role == MLP && l.block.In.Int() == m.D.Int() {
			width = l.block.Out.Int()
		}
	})
	return width
}
