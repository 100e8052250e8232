// Package reconcile keeps the ledger: it holds what a config promises against
// what a checkpoint stores, until every element of difference has a row with a
// reason, or is listed by name as unexplained.
//
// It is the only place where the two accounts of a model meet. The work is done
// on folded groups — a name with its numbers taken out, a dtype and a shape —
// so that ninety thousand tensors are matched as some dozens of groups.
package reconcile
