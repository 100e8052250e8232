// Package audit turns the findings of an inspection into a verdict for a
// pipeline. It adds what a pipeline asks beyond the ledger (what else lies in the
// source, whether the tokens fit the embedding, whether the count is the expected
// one), sets aside what a baseline knows, and holds the rest against a severity.
package audit
