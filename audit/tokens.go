package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/source"
)

// largestTokenizer bounds what is read of a tokenizer's files; the largest that
// are published have some 30 MB.
const largestTokenizer = 64 << 20

// tokens holds the special tokens' ids and the tokenizer's vocabulary against the
// rows of the token embedding.
func tokens(ctx context.Context, src source.Source, files []source.File, in *inspect.Inspection) []finding.Finding {
	rows := embeddingRows(in)
	if rows == 0 || !hasVocabulary(in) {
		return nil
	}
	folder := folderOf(in)
	var list []finding.Finding
	if in.Config != nil {
		list = specialTokens("config.json", gjson.Parse(in.Config.JSON()), rows)
	}
	if data, err := read(ctx, src, files, folder, "generation_config.json"); err == nil {
		list = append(list, specialTokens("generation_config.json", gjson.ParseBytes(data), rows)...)
	}
	return append(list, vocabulary(ctx, src, files, folder, rows)...)
}

func folderOf(in *inspect.Inspection) string {
	for i := range in.ByShard {
		if dir := path.Dir(in.ByShard[i].File); dir != "." {
			return dir
		}
	}
	return ""
}

// read returns a file of the model's folder, or of the one around it.
func read(ctx context.Context, src source.Source, files []source.File, folder, name string) ([]byte, error) {
	for _, at := range []string{path.Join(folder, name), name} {
		i := slices.IndexFunc(files, func(f source.File) bool { return f.Path == at })
		if i < 0 {
			continue
		}
		data, err := src.ReadRange(ctx, at, 0, largestTokenizer+1)
		if err == nil && len(data) > largestTokenizer {
			err = fmt.Errorf("%s has more than %d bytes", at, largestTokenizer)
		}
		return data, err
	}
	return nil, fs.ErrNotExist
}

// embeddingRows is the largest number of rows of a stored token embedding. Packed
// ones do not show theirs.
func embeddingRows(in *inspect.Inspection) int64 {
	var rows int64
	for i := range in.Result.Claims {
		c := &in.Result.Claims[i]
		counts := c.Status == reconcile.Expected || c.Status == reconcile.Inferred || c.Status == reconcile.Mismatch || c.Status == reconcile.Tied
		if counts && c.Role == "token_embedding" && len(c.Shape) == 2 {
			rows = max(rows, c.Shape[0])
		}
	}
	return rows
}

// hasVocabulary reports whether the config names a vocabulary: some models look up
// hashes of characters.
func hasVocabulary(in *inspect.Inspection) bool {
	if in.Config == nil {
		return true
	}
	text := in.Config.Sub("text_config")
	return in.Config.IntOr("vocab_size", 0) > 0 || text != nil && text.IntOr("vocab_size", 0) > 0 || in.Config.IntOr("padded_vocab_size", 0) > 0
}

// specialTokens finds ids in fields such as eos_token_id, at the top or in the
// language model's config, that have no row.
func specialTokens(file string, config gjson.Result, rows int64) []finding.Finding {
	var list []finding.Finding
	look := func(prefix string, object gjson.Result) {
		object.ForEach(func(key, value gjson.Result) bool {
			if !strings.HasSuffix(key.Str, "_token_id") && !strings.HasSuffix(key.Str, "_token_index") {
				return true
			}
			ids := []gjson.Result{value}
			if value.IsArray() {
				ids = value.Array()
			}
			for _, id := range ids {
				if id.Type == gjson.Number && id.Num >= float64(rows) {
					list = append(list, finding.New("HFI805", fmt.Sprintf("%s: %s is %s, the embedding has %s rows", file, prefix+key.Str, id.Raw, finding.Number(rows))).
						Field(prefix+key.Str).In(file))
				}
			}
			return true
		})
	}
	look("", config)
	look("text_config.", config.Get("text_config"))
	return list
}

// vocabulary compares the highest id of the tokenizer's files with the rows.
func vocabulary(ctx context.Context, src source.Source, files []source.File, folder string, rows int64) []finding.Finding {
	highest, of := int64(-1), ""
	note := func(file string, id int64) {
		if id > highest {
			highest, of = id, file
		}
	}
	var list []finding.Finding
	for _, file := range []struct {
		name string
		ids  func(gjson.Result, func(int64)) bool
	}{{"tokenizer.json", tokenizerIDs}, {"tokenizer_config.json", addedIDs}, {"added_tokens.json", mapIDs}, {"vocab.json", mapIDs}} {
		data, err := read(ctx, src, files, folder, file.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && !gjson.ValidBytes(data):
			err = errors.New("it is no JSON")
		case err == nil && !file.ids(gjson.ParseBytes(data), func(id int64) { note(file.name, id) }):
			err = errors.New("it has no vocabulary")
		}
		if err != nil {
			list = append(list, finding.New("HFI808", fmt.Sprintf("%s: %s", file.name, err)).In(file.name))
		}
	}
	switch {
	case highest >= rows:
		list = append(list, finding.New("HFI806", fmt.Sprintf("%s has ids up to %s, the embedding %s rows", of, finding.Number(highest), finding.Number(rows))).In(of))
	case highest >= 0 && highest+1 < rows:
		list = append(list, finding.New("HFI807", fmt.Sprintf("the embedding has %s rows, %s %s tokens: %s rows are never looked up",
			finding.Number(rows), of, finding.Number(highest+1), finding.Number(rows-highest-1))).In(of))
	}
	return list
}

// tokenizerIDs are those of tokenizer.json: a map from token to id, or a list of
// tokens in the order of their ids, and what was added.
func tokenizerIDs(doc gjson.Result, note func(int64)) bool {
	vocab := doc.Get("model.vocab")
	switch {
	case vocab.IsObject():
		mapIDs(vocab, note)
	case vocab.IsArray():
		note(vocab.Get("#").Int() - 1)
	default:
		return false
	}
	doc.Get("added_tokens").ForEach(func(_, token gjson.Result) bool {
		if id := token.Get("id"); id.Type == gjson.Number {
			note(id.Int())
		}
		return true
	})
	return true
}

// addedIDs are the keys of added_tokens_decoder.
func addedIDs(doc gjson.Result, note func(int64)) bool {
	doc.Get("added_tokens_decoder").ForEach(func(key, _ gjson.Result) bool {
		if id, err := strconv.ParseInt(key.Str, 10, 64); err == nil {
			note(id)
		}
		return true
	})
	return doc.IsObject()
}

func mapIDs(vocab gjson.Result, note func(int64)) bool {
	vocab.ForEach(func(_, id gjson.Result) bool {
		if id.Type == gjson.Number {
			note(id.Int())
		}
		return true
	})
	return vocab.IsObject()
}
