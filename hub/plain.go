package hub

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// plain says what a failure of the network is without the words of the
// system calls.
func plain(err error) string {
	err = bare(err)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "the name " + dns.Name + " cannot be looked up"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "the connection was reset"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection ended early"
	}
	if lost(err) {
		return "redirected to a malformed address"
	}
	return err.Error()
}

// lost reports a redirect to no address, which net/http reports as a text with
// the whole of it.
func lost(err error) bool {
	return strings.HasPrefix(err.Error(), "failed to parse Location header")
}

// bareTag takes the weak mark and the quotes off an entity tag.
func bareTag(tag string) string {
	return strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)
}
