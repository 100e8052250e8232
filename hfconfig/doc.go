// Package hfconfig reads config.json: what a checkpoint says of itself.
//
// A Config is a typed view of the JSON with everything that the reference
// library does to it while loading: aliases (n_embd = hidden_size), defaults
// of the class for fields that are left out, nested configs, null as an answer
// that differs from silence. The reader forgives what real files contain
// (NaN, Infinity); the accessors forgive nothing: a number of the wrong type is
// an error that names the field's path.
//
// It stands at the left-hand side of the flow, before package estimator, and
// knows nothing of tensors.
package hfconfig
