// Package record makes recordings out of what an inspection read, and verifies
// recordings: it inspects them again and tells what moved since the result that
// is kept in them. It stands behind inspect, which gives the result, and
// fixtures, which has the format.
package record
