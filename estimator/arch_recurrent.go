package estimator

// State-space, recurrent and hybrid families.
var recurrentFamily = []Arch{}
