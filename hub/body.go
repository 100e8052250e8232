package hub

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cenkalti/backoff/v5"
)

// again repeats op while it fails with something else than a final error:
// answers that broke off in their middle, which the round trippers below
// cannot see.
func (c *Client) again(ctx context.Context, op func() error) error {
	left := c.opts.Retry.Attempts
	if n, ok := ctx.Value(attemptsKey{}).(int); ok {
		left = min(left, n)
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		left--
		err := op()
		if err != nil && left <= 0 {
			err = final(err)
		}
		return struct{}{}, err
	}, c.opts.Retry.options(c.opts.OnWait)...)
	return err
}

// final marks an error that another attempt does not mend.
func final(err error) error {
	var marked *backoff.PermanentError
	if errors.As(err, &marked) {
		return err
	}
	return backoff.Permanent(err)
}

// whole reads an answer of at most limit bytes to its end, unpacked.
func (c *Client) whole(a *answer, q query, limit int64) ([]byte, error) {
	var r io.Reader = a.Body
	switch encoding := a.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(a.Body)
		if err != nil {
			return nil, c.failure(a.ctx, err, q.subject)
		}
		r = z
	default:
		return nil, final(c.fault(q.subject, Inconsistency, "an answer packed by "+c.clean(encoding)))
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, c.failure(a.ctx, err, q.subject)
	}
	if int64(len(data)) > limit {
		return nil, final(c.fault(q.subject, Inconsistency, fmt.Sprintf("an answer of more than %d bytes", limit)))
	}
	return data, nil
}
