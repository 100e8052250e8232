package hub

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// maxSkip bounds what is read and thrown away to get at a later part of a file
// whose server ignores ranges.
const maxSkip = 64 << 20

var contentRange = regexp.MustCompile(`^bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)$`)

// part is a range of a file that is being read, in several steps where answers
// break off.
type part struct {
	m              *Model
	f              FileInfo
	offset, length int64
	buf            bytes.Buffer
	refused        bool // the file server refused a fresh link once
}

func (p *part) at() int64   { return p.offset + int64(p.buf.Len()) }
func (p *part) left() int64 { return p.length - int64(p.buf.Len()) }

func (p *part) fault(kind ErrorKind, format string, args ...any) *Error {
	return p.m.client.fault(p.m.subject(p.f.Path), kind, fmt.Sprintf(format, args...))
}

// step asks for what is missing. It begins at the link of an earlier answer,
// which spares a redirect, as long as that is honoured.
func (p *part) step(ctx context.Context) error {
	q := query{rng: fmt.Sprintf("bytes=%d-%d", p.at(), p.at()+p.left()-1), subject: p.m.subject(p.f.Path)}
	if link := p.m.link(p.f.Path); link != "" {
		q.url = link
		if done, err := p.ask(ctx, q, true); done {
			return err
		}
		p.m.setLink(p.f.Path, "")
	}
	q.url = p.m.fileURL(p.f.Path, p.m.meta.Commit)
	_, err := p.ask(ctx, q, false)
	return err
}

// ask makes one request; done is false where a remembered link has expired.
func (p *part) ask(ctx context.Context, q query, remembered bool) (done bool, err error) {
	a, err := p.m.client.get(ctx, q)
	if err != nil {
		return true, final(err)
	}
	defer a.Close()
	if a.StatusCode >= 400 && a.StatusCode < 500 && a.StatusCode != http.StatusRequestedRangeNotSatisfiable {
		if remembered {
			return false, nil
		}
		if a.moved && !p.refused {
			p.refused = true // the link may have expired on its way here
			return true, p.m.client.refusal(a.Response, q.subject)
		}
	}
	if err := p.m.checkAnswer(a, p.f); err != nil {
		return true, final(err)
	}
	if a.moved {
		p.m.setLink(p.f.Path, a.final)
	}
	return true, p.take(a)
}

func (p *part) take(a *answer) error {
	if e := a.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return final(p.fault(BadRange, "the server packs a part of a file (%s)", e))
	}
	switch a.StatusCode {
	case http.StatusPartialContent:
		return p.partial(a)
	case http.StatusRequestedRangeNotSatisfiable:
		return p.beyond(a)
	}
	return p.full(a)
}

// partial takes an answer that says which part it is.
func (p *part) partial(a *answer) error {
	from, to, total, ok := parseRange(a.Header.Get("Content-Range"))
	switch {
	case !ok || from < 0:
		return final(p.fault(BadRange, "the server does not say which part it sends"))
	case from != p.at() || to < from:
		return final(p.fault(BadRange, "bytes %d-%d came in place of %d-%d", from, to, p.at(), p.at()+p.left()-1))
	case total >= 0 && p.f.Size >= 0 && total != p.f.Size:
		return final(p.fault(Changed, "it now has %d bytes, while the list of files says %d; run again", total, p.f.Size))
	case total < 0:
		total = p.f.Size
	}
	if total >= 0 {
		p.length = min(p.length, total-p.offset)
	} else {
		p.length = min(p.length, to+1-p.offset)
	}
	return p.fill(a, min(p.left(), to-from+1))
}

// full takes an answer of a server that ignores ranges: no more is read than
// what is needed, and closing the body ends the connection.
func (p *part) full(a *answer) error {
	if p.f.Size >= 0 && a.ContentLength > p.f.Size {
		return final(p.fault(Changed, "%d bytes are announced, while the list of files says %d; run again", a.ContentLength, p.f.Size))
	}
	skip := p.at()
	if skip > maxSkip {
		return final(p.fault(BadRange, "the server ignores ranges, and byte %d is too far into the file to read up to it", skip))
	}
	if _, err := io.CopyN(io.Discard, a.Body, skip); err != nil {
		return p.broken(a, err)
	}
	if p.f.Size < 0 && a.ContentLength >= 0 {
		p.length = min(p.length, a.ContentLength-p.offset)
	}
	return p.fill(a, p.left())
}

// beyond takes the answer for a range that begins at the file's end.
func (p *part) beyond(a *answer) error {
	_, _, total, ok := parseRange(a.Header.Get("Content-Range"))
	if ok && total > p.at() || p.f.Size >= 0 && (!ok || total != p.f.Size) {
		return final(p.fault(BadRange, "the server refuses bytes %d-%d", p.at(), p.at()+p.left()-1))
	}
	p.length = int64(p.buf.Len())
	return nil
}

// fill reads n bytes from the answer; fewer are kept for the next step.
func (p *part) fill(a *answer, n int64) error {
	if _, err := io.CopyN(&p.buf, a.Body, n); err != nil {
		return p.broken(a, err)
	}
	if p.left() > 0 {
		return p.fault(Truncated, "%d bytes of %d came", p.buf.Len(), p.length)
	}
	return nil
}

func (p *part) broken(a *answer, err error) error {
	if err != io.EOF {
		return p.m.client.failure(a.ctx, err, p.m.subject(p.f.Path))
	}
	if p.f.Size < 0 && a.StatusCode == http.StatusOK {
		p.length = int64(p.buf.Len()) // nobody knew where the file ends
		return nil
	}
	return p.fault(Truncated, "%d bytes of %d came", p.buf.Len(), p.length)
}

// parseRange reads a Content-Range; what is not given is -1.
func parseRange(header string) (from, to, total int64, ok bool) {
	match := contentRange.FindStringSubmatch(strings.TrimSpace(header))
	if match == nil {
		return -1, -1, -1, false
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	return number(match[1]), number(match[2]), number(match[3]), true
}
