package estimator

// Decoders that were made for an encoder beside them, and decoders within
// composed models.
var crossFamily = []Arch{}
