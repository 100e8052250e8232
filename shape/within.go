package shape

import (
	"errors"
	"fmt"
	"math"
)

// Limit is a memory that a shape has to fit in, in bytes.
type Limit struct {
	Bytes float64                       // that there is room for
	Each  float64                       // of a parameter
	Needs func(*Found) (float64, error) // of a shape in all, parameters and what lives beside them
}

// mostAims bounds how often Within takes aim; each time what is beside the
// parameters is known better.
const mostAims = 8

// Within lists shapes that fit in a memory, the best first, where the wish's
// number of parameters is the memory's: (Bytes − beside) / Each. Beside is what
// the best shape of that size takes in bytes besides its parameters.
func Within(w Wish, l Limit) (found []Found, beside float64, err error) {
	if l.Bytes < l.Each {
		return nil, 0, errors.New("there is no room for parameters")
	}
	for range mostAims {
		w.Parameters = (l.Bytes - beside) / l.Each
		if found, err = Search(w); err != nil {
			return nil, 0, fmt.Errorf("%.4g parameters, which leave room for cache and activations: %w", w.Parameters, err)
		}
		need, err := l.Needs(&found[0])
		if err != nil {
			return nil, 0, err
		}
		// A smaller model needs less beside its parameters: not all at once.
		next := math.Round(min(need-l.Each*float64(found[0].Parameters), beside+0.75*(l.Bytes-beside)))
		if math.Abs(next-beside) <= l.Bytes/100 {
			break
		}
		beside = next
	}
	fitting := found[:0]
	for i := range found {
		need, err := l.Needs(&found[i])
		if err != nil {
			return nil, 0, err
		}
		if need <= l.Bytes {
			fitting = append(fitting, found[i])
		}
	}
	if len(fitting) == 0 {
		return nil, 0, errors.New("no shape within the constraints fits in the memory with its cache and activations; take fewer tokens or sequences, or fix less")
	}
	return fitting, beside, nil
}
