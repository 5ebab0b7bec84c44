package collectorexporter

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds names and messages from the network, in bytes.
const maxText = 4096

// bounded returns s as valid UTF-8 of at most max bytes.
func bounded(s string, max int) string {
	if len(s) > max {
		for max > 0 && !utf8.RuneStart(s[max]) {
			max--
		}
		s = s[:max]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// printable returns s cut to max bytes, with every character that does not print replaced, so that nothing from the
// network can move a cursor or colour a terminal.
func printable(s string, max int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, bounded(s, max))
}
