package instrumentation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleaned returns s as valid UTF-8 of at most max bytes, without characters that control a terminal. Line breaks and
// tabs become blanks.
func cleaned(s string, max int) string {
	if len(s) > max {
		for max > 0 && !utf8.RuneStart(s[max]) {
			max--
		}
		s = s[:max]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case unicode.IsControl(r):
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
