package hub

import (
	"fmt"
	"strings"
)

const maxIDPart = 96

// CheckID reports whether a repository id follows the Hub's rules: name or
// org/name, each part at most 96 letters, digits, '-', '_' and '.'.
func CheckID(id string) error {
	parts := strings.Split(id, "/")
	if len(parts) > 2 {
		return fmt.Errorf("%q is not a repository: write org/name, and org/name//folder for a folder in it", id)
	}
	for _, part := range parts {
		if why := badPart(part); why != "" {
			return fmt.Errorf("%q is not a repository: %s", id, why)
		}
	}
	return nil
}

func badPart(part string) string {
	switch {
	case part == "":
		return "a part of the name is empty; write org/name"
	case len(part) > maxIDPart:
		return fmt.Sprintf("a part of the name is longer than %d characters", maxIDPart)
	case strings.Contains(part, "--"), strings.Contains(part, ".."):
		return `names hold neither "--" nor ".."`
	case strings.ContainsAny(part[:1]+part[len(part)-1:], "-."):
		return `names neither begin nor end with "-" or "."`
	case strings.HasSuffix(part, ".git"):
		return `names do not end with ".git"`
	}
	for _, r := range part {
		if !strings.ContainsRune("-_.", r) && !isAlnum(r) {
			return fmt.Sprintf("%q cannot be in a name; letters, digits, '-', '_' and '.' can", r)
		}
	}
	return ""
}

func isAlnum(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
