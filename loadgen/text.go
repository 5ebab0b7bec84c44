package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/specdecode/otel/instrumentation"
)

// maxText bounds a text from the network on the terminal, in characters.
const maxText = 300

// printable returns s without anything that moves a cursor or colours a terminal, and not longer than a message
// should be.
func printable(s string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(strings.TrimSpace(s), string(unicode.ReplacementChar))))
	if len(runes) > maxText {
		return string(runes[:maxText]) + "..."
	}
	return string(runes)
}

// failureText says in a line why a request failed.
func failureText(f *instrumentation.Failure) string {
	if f.Code != 0 {
		return printable(fmt.Sprintf("%d %s", f.Code, f.Message))
	}
	return printable(f.Type + ": " + f.Message)
}

// plural counts things.
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
