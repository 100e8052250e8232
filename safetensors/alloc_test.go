package safetensors

import "testing"

// TestParseAllocations holds that the number of allocations does not follow the
// number of tensors: thousands take as many as one.
func TestParseAllocations(t *testing.T) {
	one := oneHeader(t, deepSeekHeaders(t)[:20])
	const bound = 20
	allocs := testing.AllocsPerRun(2, func() {
		if err := parseOurs(one); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > bound {
		t.Errorf("%v allocations, want at most %d", allocs, bound)
	}
}

func TestDeepSeekTotals(t *testing.T) {
	var sum Totals
	for _, shard := range deepSeekHeaders(t) {
		h, err := ParseHeader(shard.json, shard.data)
		if err != nil || h.Err() != nil || len(h.Notices) != 0 {
			t.Fatal(shard.path, err, h.Err(), h.Notices)
		}
		file := h.Totals()
		sum.Tensors += file.Tensors
		sum.Elements += file.Elements
		sum.Bytes += file.Bytes
	}
	// 684,531,386,000 is the number of elements that the Hub publishes.
	if want := (Totals{Tensors: 91_991, Elements: 684_531_386_000, Bytes: 688_574_839_360}); sum != want {
		t.Errorf("got %+v, want %+v", sum, want)
	}
}
