// Package shape goes the other way round than the rest: from numbers to a model.
// A handful of sizes becomes a config of a described type, and a target becomes
// sizes that meet it. Everything else is then counted as for any config.
package shape
