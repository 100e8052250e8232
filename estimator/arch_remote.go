package estimator

// Well-known types whose code lives in the model repository.
var remoteFamily = []Arch{}
