// Package report renders result values: as text for a terminal, as JSON for
// programs, as Markdown for a page and as CSV for a sheet. It makes no results
// and asks no terminal: width and colour are given to it.
package report
