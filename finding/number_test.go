package finding

import (
	"math"
	"testing"
)

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 123456: "123,456", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Number(n); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 layers", 1: "1 layer", 2: "2 layers", 1000: "1,000 layers"} {
		if got := Count(n, "layer"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
