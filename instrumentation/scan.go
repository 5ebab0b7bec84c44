package instrumentation

import "bytes"

// These functions look at an event of a stream without decoding it. A quote inside a JSON string is escaped, so a name
// in bare quotes is a member's name or a whole string; a colon after it tells which.

// isInteresting reports whether an event has a member that needs decoding, other than as null or false.
func isInteresting(event []byte) bool {
	for _, name := range interesting {
		// Several choices have a member of the same name each, and null in one says nothing of the next.
		for v := valueOf(event, name); len(v) > 0; v = valueOf(v, name) {
			if v[0] != 'n' && v[0] != 'f' {
				return true
			}
		}
	}
	return hasType(event, errorType)
}

// contentNames are the members that hold text, and what their values begin with when there is none.
var contentNames = []struct {
	name        []byte
	open, empty byte
}{
	{[]byte(`"content"`), '"', '"'},
	{[]byte(`"text"`), '"', '"'},
	{[]byte(`"reasoning_content"`), '"', '"'},
	{[]byte(`"reasoning"`), '"', '"'},
	{[]byte(`"tool_calls"`), '[', ']'},
}

// content returns the bytes from the first text, reasoning text or tool call of an event that is not empty, or nil.
func content(event []byte) []byte {
	if isResponseEvent(event) {
		// Other events of /v1/responses say again what the deltas said.
		if v := valueOf(event, deltaName); len(v) > 1 && v[0] == '"' && v[1] != '"' {
			return v
		}
		return nil
	}
	for _, c := range contentNames {
		for rest := event; ; {
			v := valueOf(rest, c.name)
			if v == nil {
				break
			}
			if len(v) > 1 && v[0] == c.open && v[1] != c.empty {
				return v
			}
			rest = v
		}
	}
	return nil
}

var (
	deltaName    = []byte(`"delta"`)
	typeName     = []byte(`"type"`)
	responseType = []byte(`"response.`)
	errorType    = []byte(`"error"`)
)

// isResponseEvent tells the events of /v1/responses by their type.
func isResponseEvent(event []byte) bool { return hasType(event, responseType) }

// hasType reports whether a member type has a value that begins so.
func hasType(event, prefix []byte) bool {
	for v := valueOf(event, typeName); v != nil; v = valueOf(v, typeName) {
		if bytes.HasPrefix(v, prefix) {
			return true
		}
	}
	return false
}

// template is what the ordinary events of a stream have in common: they differ in their text only. An event that fits
// has the members that the first one had, and so nothing that needs decoding.
type template struct{ before, after []byte }

// learn takes an ordinary event as the example; text is the rest of it from its text on.
func (t *template) learn(event, text []byte) {
	if text[0] != '"' || bytes.IndexByte(event, '\n') >= 0 {
		return
	}
	start := len(event) - len(text) + 1
	end := bytes.IndexByte(event[start:], '"')
	if end < 1 || event[start+end-1] == '\\' {
		return
	}
	t.before = append(t.before[:0], event[:start]...)
	t.after = append(t.after[:0], event[start+end:]...)
}

// cut returns the event that a stream begins with, and how many bytes it takes with its closing empty line, if it is the
// example with another text that is not empty; otherwise 0.
func (t *template) cut(stream []byte) (event []byte, n int) {
	event, found := bytes.CutPrefix(stream, dataPrefix)
	if !found || len(t.before) == 0 || !bytes.HasPrefix(event, t.before) {
		return nil, 0
	}
	rest := event[len(t.before):]
	// A backslash before the quote would make it a part of the text, and a line's end would make the rest another field.
	end := bytes.IndexByte(rest, '"')
	if end < 1 || rest[end-1] == '\\' || bytes.IndexByte(rest[:end], '\n') >= 0 || bytes.IndexByte(rest[:end], '\r') >= 0 {
		return nil, 0
	}
	if rest = rest[end:]; !bytes.HasPrefix(rest, t.after) {
		return nil, 0
	}
	rest = rest[len(t.after):]
	length := len(event) - len(rest)
	for _, close := range closings {
		if bytes.HasPrefix(rest, close) {
			return event[:length], len(stream) - len(rest) + len(close)
		}
	}
	return nil, 0
}

var (
	dataPrefix = []byte("data: ")
	closings   = [][]byte{[]byte("\n\n"), []byte("\r\n\r\n")}
)

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
