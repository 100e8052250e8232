package cost

// Formula is a figure as a reader can check it: in symbols, in numbers, as a
// result.
type Formula struct {
	Name    string `json:"name"`
	Symbols string `json:"symbols"`
	Numbers string `json:"numbers"`
	Result  any    `json:"result"` // *big.Int, or float64
	Unit    string `json:"unit"`   // bytes, flops, seconds
}
