package estimator

import "slices"

// Well-known types whose code lives in the model repository. Their classes have
// no defaults here: what a config leaves out is as those classes have it.
var remoteFamily = slices.Concat(remoteLlamaFamily, remoteGPTFamily, remoteOddFamily)

// unconfirmed are the types that are described from what is published of them,
// without a reference implementation or a real index at hand.
var unconfirmed = []string{"deci", "deepseek", "exaone", "internlm3", "minicpm", "openelm", "phi-msft", "RefinedWebModel"}

// Confirmed reports whether a reference implementation or real files have
// confirmed the description.
func (a Arch) Confirmed() bool { return !slices.Contains(unconfirmed, a.Type) }
