package estimator

// Formula is the way from the textbook's count to the description's own.
type Formula struct {
	// Textbook is 12·N·D² + V·D: per layer 4·D² of attention and 8·D² of MLP, and
	// one token embedding. It is not Applicable where the model has no single
	// depth, width and vocabulary; the rows then start at 0.
	Applicable    bool
	TextbookValue int64
	Rows          []FormulaRow // what the model has otherwise, by role
	Derived       string       // closed formula of the description: N(12D² + 13D) + VD + CD + 2D
	DerivedValue  int64        // its value, the unique parameters
	Symbols       []Symbol     // the letters of Derived and of the textbook's formula
	Notes         []string     // such as F = 4D
}

// FormulaRow is one reason for a difference from the textbook.
type FormulaRow struct {
	Code     string // such as position_embeddings
	Reason   string
	Formula  string // in symbols: C·D
	Elements int64
	Tensors  []string // folded names of the tensors concerned
}

// Symbol is a letter and its value.
type Symbol struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// TextbookFormula is the formula in the spelling of the JSON result.
const TextbookFormula = "12*N*D^2 + V*D"

// Formula derives the closed formula and compares it with the textbook's.
func (m *Model) Formula() Formula {
	var f Formula
	sum := newTally(m)
	f.Rows = sum.rows()
	if f.Applicable = sum.textbook; f.Applicable {
		f.TextbookValue = sum.baseline().Int()
	}
	f.Derived, f.DerivedValue, f.Symbols, f.Notes = m.closedFormula()
	return f
}
