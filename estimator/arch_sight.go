package estimator

import "slices"

// Language models that see, by whose mould they are in.
var sightFamily = slices.Concat(qwenSightFamily, llavaFamily, glmSightFamily, ideficsFamily, blipFamily, compressedSightFamily, pairFamily)
