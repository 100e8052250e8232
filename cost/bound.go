package cost

import "slices"

// Bound is the least time that a pass can take on one accelerator: its FLOPs at
// the dense peak. What is read from memory can make it longer: see Speed.
type Bound struct {
	Accelerator     string  `json:"accelerator"`
	DType           string  `json:"dtype"`
	Peak            float64 `json:"peak_flops_per_second"`
	ForwardSeconds  float64 `json:"forward_seconds"`
	TrainingSeconds float64 `json:"training_seconds"`
	Source          string  `json:"source"`
}

// BoundOn answers for an accelerator and a dtype of what is multiplied; the bound
// names that of the products.
func (f *FLOPs) BoundOn(a Accelerator, dtype string) (Bound, error) {
	peak, err := a.Peak(dtype)
	if err != nil {
		return Bound{}, err
	}
	if note := a.otherProducts(dtype); note != "" && !slices.Contains(f.Assumptions, note) {
		f.Assumptions = append(f.Assumptions, note)
	}
	return Bound{a.Name, a.Products(dtype), peak, float(f.Forward) / peak, float(f.Training) / peak, a.Source}, nil
}
