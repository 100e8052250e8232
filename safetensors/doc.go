// Package safetensors reads what a checkpoint says about itself: the JSON
// header of each safetensors file, the index that names the shards, and the
// layout of weight files in a folder.
//
// In the flow it stands between source, which delivers bytes, and reconcile,
// which compares the tensors found here with those that a config calls for. It
// knows nothing of models and nothing of HTTP.
//
// # Strict and forgiving at once
//
// [ParseHeader] checks every rule of the format that the reference
// implementation (the Rust crate) checks, with the same verdict. What the crate
// refuses falls in two classes:
//
//   - The header cannot be read at all: not UTF-8, not JSON, nested too deep.
//     ParseHeader returns an *[Error] and no header.
//   - The header can be read and still be counted: a hole between two tensors,
//     a size that is not shape times dtype, data that was cut off, an entry of
//     the wrong form beside good ones. ParseHeader returns the header, and
//     [Header.Faults] holds what is wrong. [Header.Err] is the first fault, in
//     the order in which the crate checks; nil means that the crate accepts.
//
// What the crate accepts and an auditor should still hear of (a name that
// occurs twice, say) is in [Header.Notices].
package safetensors
