// Package cost says what running and training a described model takes: FLOPs
// under named conventions, KV cache, memory, time. Everything follows from the
// blocks of the description; nothing here knows an architecture by name.
//
// Units stand in the names: a field that ends in FLOPs counts floating-point
// operations, one in Bytes bytes, one in Seconds seconds.
package cost
