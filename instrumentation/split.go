package instrumentation

import (
	"bytes"
	"encoding/json"
	"iter"
)

// These functions take JSON apart that is known to be valid. They copy nothing and do not recurse.

// splitObject lists the members of an object.
func splitObject(b []byte) members {
	// An object with one member in it has a colon; the room for more than there are is bounded by the bytes.
	m := make(members, 0, min(12, bytes.Count(b, []byte(":"))))
	for i := space(b, 1); b[i] != '}'; {
		end := stringEnd(b, i)
		key := b[i+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(unquote(b[i:end]))
		}
		i = space(b, space(b, end)+1) // The colon is between.
		end = valueEnd(b, i)
		m = append(m, member{key, json.RawMessage(b[i:end:end])})
		if i = space(b, end); b[i] == ',' {
			i = space(b, i+1)
		}
	}
	return m
}

// elements goes through an array; anything else has none.
func elements(b []byte) iter.Seq2[int, json.RawMessage] {
	return func(yield func(int, json.RawMessage) bool) {
		if len(b) == 0 || b[0] != '[' {
			return
		}
		for n, i := 0, space(b, 1); b[i] != ']'; n++ {
			end := valueEnd(b, i)
			if !yield(n, json.RawMessage(b[i:end:end])) {
				return
			}
			if i = space(b, end); b[i] == ',' {
				i = space(b, i+1)
			}
		}
	}
}

// space is the place of the next byte that is not white space.
func space(b []byte, i int) int { return len(b) - len(skipSpace(b[i:])) }

// stringEnd is the place after the string that starts at i.
func stringEnd(b []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		backslashes := 0
		for b[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i + 1
		}
	}
}

// valueEnd is the place after the value that starts at i.
func valueEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		for depth := 0; ; i++ {
			switch b[i] {
			case '"':
				i = stringEnd(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(b) && bytes.IndexByte([]byte(",]} \t\r\n"), b[i]) < 0 {
		i++
	}
	return i
}
