package instrumentation

import "bytes"

// These functions look at an event of a stream without decoding it. A quote inside a JSON string is escaped, so a name
// in bare quotes is a member's name or a whole string; a colon after it tells which.

// isInteresting reports whether an event has a member that needs decoding, other than as null or false.
func isInteresting(event []byte) bool {
	for _, name := range interesting {
		if v := valueOf(event, name); len(v) > 0 && v[0] != 'n' && v[0] != 'f' {
			return true
		}
	}
	return false
}

// contentNames are the members that hold text, and what their values begin with when there is none.
var contentNames = []struct {
	name        []byte
	open, empty byte
}{
	{[]byte(`"content"`), '"', '"'},
	{[]byte(`"text"`), '"', '"'},
	{[]byte(`"delta"`), '"', '"'},
	{[]byte(`"reasoning_content"`), '"', '"'},
	{[]byte(`"reasoning"`), '"', '"'},
	{[]byte(`"tool_calls"`), '[', ']'},
}

// hasContent reports whether an event has text, reasoning text or a tool call.
func hasContent(event []byte) bool {
	for _, c := range contentNames {
		for rest := event; ; {
			v := valueOf(rest, c.name)
			if v == nil {
				break
			}
			if len(v) > 1 && v[0] == c.open && v[1] != c.empty {
				return true
			}
			rest = v
		}
	}
	return false
}

// valueOf returns the bytes from the value of the first member with the quoted name, or nil.
func valueOf(event, name []byte) []byte {
	for {
		i := bytes.Index(event, name)
		if i < 0 {
			return nil
		}
		event = skipSpace(event[i+len(name):])
		if len(event) > 0 && event[0] == ':' {
			return skipSpace(event[1:])
		}
	}
}

func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}
