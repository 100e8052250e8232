package hub

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"

	"github.com/hf-inspect/hf-inspect/source"
)

// maxPages bounds a file list; a page holds 1,000 files.
const maxPages = 100

var nextLink = regexp.MustCompile(`<([^>]+)>\s*;\s*rel="?next"?`)

type treeItem struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	LFS  *struct {
		OID  string `json:"oid"`
		Size int64  `json:"size"`
	} `json:"lfs"`
}

// tree lists the files page by page, for a Hub whose metadata lack sizes.
func (c *Client) tree(ctx context.Context, meta Metadata, what subject) ([]FileInfo, error) {
	var files []FileInfo
	next := c.opts.Endpoint + "/api/models/" + meta.ID + "/tree/" + meta.Commit + "?recursive=true"
	for page := 0; next != ""; page++ {
		if page == maxPages {
			return nil, c.fault(what, Inconsistency, "the list of files does not end")
		}
		body, a, err := c.load(ctx, query{url: next, gzip: true, subject: what}, maxMetadata)
		if err != nil {
			return nil, err
		}
		var items []treeItem
		if json.Unmarshal(body, &items) != nil {
			return nil, c.fault(what, NotTheHub, "a list of files that cannot be read")
		}
		for _, item := range items {
			files = item.appendTo(files)
		}
		if next, err = c.nextPage(a.Response); err != nil {
			return nil, c.fault(what, Inconsistency, err.Error())
		}
	}
	sortFiles(files)
	return files, nil
}

func (t treeItem) appendTo(files []FileInfo) []FileInfo {
	if t.Type != "file" || source.CheckPath(t.Path) != nil {
		return files
	}
	f := FileInfo{Path: t.Path, Size: t.Size}
	if t.LFS != nil {
		f.Size, f.SHA256 = t.LFS.Size, t.LFS.OID
	}
	return append(files, f)
}

// nextPage reads the Link header; a page on another host is none of ours.
func (c *Client) nextPage(resp *http.Response) (string, error) {
	match := nextLink.FindStringSubmatch(resp.Header.Get("Link"))
	if match == nil {
		return "", nil
	}
	u, err := url.Parse(match[1])
	if err != nil {
		return "", errors.New("the address of the next page of files is not well-formed")
	}
	u = resp.Request.URL.ResolveReference(u)
	if !sameOrigin(u, c.endpoint) {
		return "", errors.New("the list of files goes on at another host, " + u.Host)
	}
	return u.String(), nil
}
