package instrumentation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleaned returns s as valid UTF-8 of at most max bytes, without characters that control a terminal. Line breaks and
// tabs become blanks.
func cleaned(s string, max int) string {
	if len(s) <= max && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n', r == '\r', r == '\t':
			r = ' '
		case unicode.IsControl(r):
			r = utf8.RuneError
		}
		if b.Len()+utf8.RuneLen(r) > max {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
