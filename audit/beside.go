package audit

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/source"
)

// pickleEndings are those of files that may hold a pickle.
var pickleEndings = []string{".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".p", ".dill", ".tar"}

// mostOpened bounds how many files' first bytes are read to tell what they are.
const mostOpened = 32

// pickles finds files beside the safetensors whose loading runs code that their
// author chose: pickles, and torch's archives of them. Their first bytes tell, or
// their names where those cannot be read.
func pickles(ctx context.Context, src source.Source, files []source.File) []finding.Finding {
	var names []string
	opened := 0
	for _, f := range files {
		if !slices.Contains(pickleEndings, strings.ToLower(path.Ext(f.Path))) {
			continue
		}
		is := strings.HasPrefix(path.Base(f.Path), "pytorch_model") || path.Ext(f.Path) != ".bin"
		if opened++; opened <= mostOpened {
			if first, err := src.ReadRange(ctx, f.Path, 0, 8); err == nil && len(first) > 0 {
				is = isPickle(first)
			}
		}
		if is {
			names = append(names, f.Path)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []finding.Finding{finding.New("HFI802", fmt.Sprintf("%s beside the safetensors: %s", pickleWords(len(names)), strings.Join(finding.Names(names), ", "))).In(names[0])}
}

func pickleWords(n int) string {
	if n == 1 {
		return "a pickle"
	}
	return finding.Number(int64(n)) + " pickles"
}

// isPickle knows a pickle of protocol 2 to 5, and torch's zip archive of one.
func isPickle(first []byte) bool {
	return bytes.HasPrefix(first, []byte("PK\x03\x04")) || len(first) > 1 && first[0] == 0x80 && first[1] >= 2 && first[1] <= 5
}

var numbered = regexp.MustCompile(`^(.*?)-?(\d{5})-of-(\d{5})(\..*)$`)

// shardNumbers finds gaps in the numbers of shards, and numbers of more than one
// whole. Where a file is known to be missing, that is said already.
func shardNumbers(in *inspect.Inspection) []finding.Finding {
	if len(in.Source.UnavailableFiles) > 0 {
		return nil
	}
	totals := make(map[int]string)
	numbers := make(map[int]bool)
	for i := range in.ByShard {
		match := numbered.FindStringSubmatch(path.Base(in.ByShard[i].File))
		if match == nil {
			continue
		}
		n, _ := strconv.Atoi(match[2])
		total, _ := strconv.Atoi(match[3])
		numbers[n], totals[total] = true, in.ByShard[i].File
	}
	if len(totals) > 1 {
		return []finding.Finding{finding.New("HFI804", fmt.Sprintf("the shards are numbered as parts of %s", joined(slices.Sorted(maps.Keys(totals)), " and of "))).In(slices.Min(slices.Collect(maps.Values(totals))))}
	}
	for total, file := range totals {
		var gaps []int
		for n := 1; n <= total && len(gaps) <= finding.MostNames; n++ {
			if !numbers[n] {
				gaps = append(gaps, n)
			}
		}
		if len(gaps) > 0 && !(len(gaps) == 1 && numbers[0]) { // some count from 0
			return []finding.Finding{finding.New("HFI804", fmt.Sprintf("of %d shards there is no number %s", total, joined(gaps, ", "))).In(file)}
		}
	}
	return nil
}

func joined(numbers []int, with string) string {
	var words []string
	for _, n := range numbers[:min(len(numbers), finding.MostNames)] {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, with)
}

// roleDTypes finds roles whose matrices are stored in more than one dtype. Norms
// and other vectors are often kept in 32 bits, and a quantiser leaves some
// matrices as they were.
func roleDTypes(in *inspect.Inspection) []finding.Finding {
	byRole := make(map[string]map[safetensors.DType]*reconcile.Claim)
	packed := make(map[string]bool)
	for i := range in.Result.Claims {
		c := &in.Result.Claims[i]
		switch {
		case c.Status == reconcile.Quantised:
			packed[c.Role] = true
		case c.Status != reconcile.Expected && c.Status != reconcile.Inferred || len(c.Shape) < 2:
		default:
			if byRole[c.Role] == nil {
				byRole[c.Role] = make(map[safetensors.DType]*reconcile.Claim)
			}
			if byRole[c.Role][c.DType] == nil {
				byRole[c.Role][c.DType] = c
			}
		}
	}
	var list []finding.Finding
	for _, role := range slices.Sorted(maps.Keys(byRole)) {
		if len(byRole[role]) < 2 || packed[role] {
			continue
		}
		var parts, names []string
		for _, dtype := range slices.Sorted(maps.Keys(byRole[role])) {
			parts = append(parts, fmt.Sprintf("%s (%s)", dtype, byRole[role][dtype].Template))
			names = append(names, byRole[role][dtype].Template)
		}
		list = append(list, finding.New("HFI803", fmt.Sprintf("%s is stored in %s", strings.ReplaceAll(role, "_", " "), strings.Join(parts, " and in "))).About(names...))
	}
	return list
}
