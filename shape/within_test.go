package shape

import (
	"math"
	"testing"
)

// TestWithin: what is offered fits with what lives beside the parameters, here a
// cache of 2·layers·d elements of 16 bits for 100,000 tokens, and the best one
// leaves little room.
func TestWithin(t *testing.T) {
	needs := func(f *Found) (float64, error) {
		return 2*float64(f.Parameters) + 2*2*1e5*float64(f.Sizes.Layers*f.Sizes.Hidden), nil
	}
	const room = 24e9
	found, beside, err := Within(Wish{Sizes: Sizes{Kind: "llama", Vocabulary: 32000}}, Limit{Bytes: room, Each: 2, Needs: needs})
	if err != nil {
		t.Fatal(err)
	}
	least := math.Inf(1)
	for i := range found {
		need, _ := needs(&found[i])
		if need > room {
			t.Errorf("%+v takes %g bytes", found[i].Sizes, need)
		}
		least = min(least, room-need)
	}
	if least > 0.03*room || beside < 0.5*room {
		t.Errorf("%g bytes are left over, %g beside the parameters", least, beside)
	}
	if _, _, err := Within(Wish{Sizes: Sizes{Vocabulary: 32000}}, Limit{Bytes: 1, Each: 2, Needs: needs}); err == nil {
		t.Error("a shape within a byte")
	}
	huge := func(*Found) (float64, error) { return 2 * room, nil }
	if found, _, err := Within(Wish{Sizes: Sizes{Vocabulary: 32000, Hidden: 4096, Heads: 32}}, Limit{Bytes: room, Each: 2, Needs: huge}); err == nil {
		t.Errorf("%d shapes that do not fit", len(found))
	}
}

// TestHeadsOfHidden: heads of a hidden size have its features between them.
func TestHeadsOfHidden(t *testing.T) {
	for _, c := range []struct {
		sizes Sizes
		dim   int64
	}{
		{Sizes{Hidden: 4096, Heads: 32, Kind: "gpt2"}, 128},
		{Sizes{Hidden: 4096, Heads: 32, Kind: "llama"}, 128},
		{Sizes{Hidden: 4096, Heads: 16, Kind: "llama"}, 256},
		{Sizes{Heads: 32, Kind: "gpt2"}, 128},
		{Sizes{Hidden: 4096, Heads: 16, HeadDim: 128, Kind: "llama"}, 128},
	} {
		c.sizes.Vocabulary = 32000
		found, err := Search(Wish{Parameters: 7e9, Sizes: c.sizes})
		if err != nil {
			t.Errorf("%+v: %v", c.sizes, err)
			continue
		}
		if s := found[0].Sizes; s.HeadDim != c.dim || s.Heads != c.sizes.Heads {
			t.Errorf("%+v: %d heads of %d", c.sizes, s.Heads, s.HeadDim)
		}
	}
	_, err := Search(Wish{Parameters: 7e9, Sizes: Sizes{Hidden: 4096, Heads: 33, Vocabulary: 32000}})
	if err == nil || err.Error() != "hidden size 4096 is no multiple of 33 heads" {
		t.Error(err)
	}
}
