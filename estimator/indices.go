package estimator

import (
	"slices"
	"strconv"
	"strings"
)

// Indices is a set of layer or expert numbers, as sorted ranges that do not
// touch. Folded names carry one for each place where a number stands.
type Indices []Range

// Range is the numbers from First to Last, both included.
type Range struct{ First, Last int64 }

// Upto returns 0 … n−1.
func Upto(n int64) Indices {
	if n <= 0 {
		return nil
	}
	return Indices{{0, n - 1}}
}

// Only returns the set of the given numbers.
func Only(numbers ...int64) Indices {
	sorted := slices.Sorted(slices.Values(numbers))
	var set Indices
	for _, n := range sorted {
		if last := len(set) - 1; last >= 0 && n <= set[last].Last+1 {
			set[last].Last = max(set[last].Last, n)
		} else {
			set = append(set, Range{n, n})
		}
	}
	return set
}

// Len returns how many numbers the set holds.
func (s Indices) Len() int64 {
	var n int64
	for _, r := range s {
		n += r.Last - r.First + 1
	}
	return n
}

// Rank returns the place of n in the sorted set, or −1.
func (s Indices) Rank(n int64) int64 {
	var before int64
	for _, r := range s {
		if n < r.First {
			return -1
		}
		if n <= r.Last {
			return before + n - r.First
		}
		before += r.Last - r.First + 1
	}
	return -1
}

// At returns the number at the given place of the sorted set.
func (s Indices) At(rank int64) int64 {
	for _, r := range s {
		if n := r.Last - r.First + 1; rank < n {
			return r.First + rank
		} else {
			rank -= n
		}
	}
	return -1
}

// Union returns the numbers that are in either set.
func (s Indices) Union(t Indices) Indices {
	ranges := slices.Concat(s, t)
	slices.SortFunc(ranges, func(a, b Range) int {
		if a.First < b.First {
			return -1
		}
		return 1
	})
	var union Indices
	for _, r := range ranges {
		if last := len(union) - 1; last >= 0 && r.First <= union[last].Last+1 {
			union[last].Last = max(union[last].Last, r.Last)
		} else {
			union = append(union, r)
		}
	}
	return union
}

// String writes the set as folded names have it: "0", "{0..47}", "{0..2,5}".
func (s Indices) String() string {
	if len(s) == 1 && s[0].First == s[0].Last {
		return strconv.FormatInt(s[0].First, 10)
	}
	parts := make([]string, len(s))
	for i, r := range s {
		parts[i] = strconv.FormatInt(r.First, 10)
		if r.Last > r.First {
			parts[i] += ".." + strconv.FormatInt(r.Last, 10)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}
