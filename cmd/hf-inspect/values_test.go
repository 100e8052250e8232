package main

import (
	"strings"
	"testing"
)

func TestLengths(t *testing.T) {
	for text, want := range map[string]string{"8192": "8192", "8Ki,128Ki": "8192,131072", "1_000": "1000", "1Mi": "1048576", "0": "0"} {
		var l lengths
		if err := l.Set(text); err != nil || l.String() != want {
			t.Errorf("%s: %s, %v", text, l.String(), err)
		}
	}
	for _, text := range []string{"", "8k", "128K", "1e3", "1.5", "9Ti", "9223372036854775807Ki", "8,"} {
		var l lengths
		if err := l.Set(text); err == nil {
			t.Errorf("%q is taken for %s", text, l.String())
		}
	}
	if err := new(lengths).Set("8k"); err == nil || !strings.Contains(err.Error(), "8Ki") {
		t.Errorf("8k: %v", err)
	}
}

func TestCounts(t *testing.T) {
	for text, want := range map[string]float64{"1.4e12": 1.4e12, "300B": 3e11, "7b": 7e9, "1_000_000": 1e6, "1,000": 1000, "2T": 2e12, "5K": 5e3, "3M": 3e6} {
		var c count
		if err := c.Set(text); err != nil || c.n != want {
			t.Errorf("%s: %g, %v", text, c.n, err)
		}
	}
	for _, text := range []string{"", "many", "-3", "0", "1TB", "NaN", "Inf", "1e29T"} {
		if err := new(count).Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]string{"24GB": "24000000000", "24GiB": "25769803776", "24e9": "24000000000", "0": "0", "1.5 gib": "1610612736", "80 GB": "80000000000"} {
		var s size
		if err := s.Set(text); err != nil || s.bytes.String() != want {
			t.Errorf("%s: %v, %v", text, s.bytes, err)
		}
	}
	for _, text := range []string{"", "24G", "-1", "NaN", "lots"} {
		if err := new(size).Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
