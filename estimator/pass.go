package estimator

// Pass is one run of a model.
type Pass struct {
	Batch        int64 // sequences
	Seq          int64 // new tokens of each
	Past         int64 // cached tokens of each
	LogitsToKeep int64 // positions that get logits; 0 is all new ones
	EncoderSeq   int64 // tokens of the encoder
}

// rows returns how often a linear map runs.
func (p Pass) rows(r Rows) int64 {
	switch r {
	case PerLogit:
		if p.LogitsToKeep > 0 {
			return p.Batch * min(p.LogitsToKeep, p.Seq)
		}
	case PerSequence:
		return p.Batch
	case PerKey:
		return p.Batch * (p.Seq + p.Past)
	case PerMemory:
		return p.Batch * p.EncoderSeq
	}
	return p.Batch * p.Seq
}
