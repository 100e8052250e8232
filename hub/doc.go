// Package hub reads model repositories on the Hugging Face Hub over HTTP: one
// request for what a repository holds, then as few bytes of its files as the
// caller asks for. A Model is a source.Source.
//
// The client is a stack of round trippers (retry, token, limits, count); each
// does one thing and tests replace the network below them. The first answer
// pins the commit and every later read names it, so that a push in between
// cannot mix two versions. What belongs to a commit never changes and is kept
// in a cache folder.
//
// It stands beside package source at the beginning of the flow and knows
// nothing of what is in the files.
package hub
