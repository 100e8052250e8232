// Package adapter describes what a parameter-efficient fine-tuning adapter
// stores: its config names a method and modules of a base model, and from both
// follow the names and shapes of every tensor in the adapter's file.
//
// It stands beside package estimator on the side of the promise: it never sees
// a file. The layouts are those of peft 0.21.
package adapter
