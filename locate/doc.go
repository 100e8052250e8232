// Package locate turns what a user typed — a path, org/name@revision, an hf://
// or Hub address, the name of a recording — into a source.Source, and decides
// what answers when the network does not.
//
// The order is: a local path; offline, the Hugging Face cache, then a
// recording; online, the Hub, and only where it cannot be reached the cache,
// then a recording. What the Hub says about a repository (missing, gated) is
// an answer and never covered up by a fallback.
package locate
