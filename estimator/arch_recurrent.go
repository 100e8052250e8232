package estimator

import "slices"

// State-space, recurrent and hybrid families.
var recurrentFamily = slices.Concat(ssmFamily, zambaFamily)
