// Package estimator says what a config promises: the tensors of a model by
// name, shape and role, and everything that follows from them.
//
// An architecture is described once, as a tree of blocks with symbolic sizes
// (package files arch_*.go). Every result is a walk over that tree: expected
// tensors, counts by definition, the closed formula, FLOPs, KV cache. Nothing
// outside the descriptions branches on a model type.
//
// It stands between package hfconfig, which reads the config, and package
// reconcile, where the estimate meets the file. It never sees a checkpoint.
package estimator
