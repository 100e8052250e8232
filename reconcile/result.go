package reconcile

import (
	"github.com/hf-inspect/hf-inspect/estimator"
)

// result closes the ledger. The sum of the estimate, the rows and what is
// unexplained is the number of stored elements: if the steps failed to account
// for something, it shows as unexplained.
func (m *matching) result(elements, bytes int64) *Result {
	r := &Result{Rows: mergeRows(m.rows), UnexplainedTensors: m.unexplainedNames[:min(len(m.unexplainedNames), mostMissing)], Missing: m.missing, StoredElements: elements, StoredBytes: bytes}
	sum := int64(0)
	if m.in.Model != nil {
		sum = estimator.Count(m.in.Model.Tensors()).Unique
		r.Known = m.in.Checkpoint.Complete
		r.Unique, r.NonEmbedding, r.Active = m.unique, m.nonEmbedding, m.active
	}
	for _, row := range r.Rows {
		sum += row.Elements
	}
	r.Unexplained = elements - sum
	for i := range m.claims {
		c := m.claims[i].Claim
		r.Logical += c.Logical
		r.Claims = append(r.Claims, c)
	}
	r.Quantisation = m.summary(r.Logical, bytes)
	return r
}

// mergeRows adds up rows of one code and reason.
func mergeRows(rows []Row) []Row {
	var merged []Row
	for _, row := range rows {
		i := len(merged) - 1
		for ; i >= 0; i-- {
			if merged[i].Code == row.Code && merged[i].Reason == row.Reason {
				break
			}
		}
		if i < 0 {
			merged = append(merged, row)
			continue
		}
		merged[i].Elements += row.Elements
		merged[i].Formula = ""
		merged[i].Tensors = append(merged[i].Tensors, row.Tensors...)
		merged[i].Tensors = merged[i].Tensors[:min(len(merged[i].Tensors), 20)]
	}
	return merged
}
