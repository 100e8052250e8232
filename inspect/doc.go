// Package inspect answers the tool's questions about one model: it reads a
// source, describes the config's architecture, reconciles the two, and returns
// plain result values that package report renders. It is the library behind the
// commands; it knows neither flags nor terminals.
package inspect
