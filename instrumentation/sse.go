package instrumentation

import "bytes"

// events reads a stream of server-sent events as it passes and hands on the data of each, as the HTML standard has
// it: lines end in LF, CR or CRLF; data lines of one event are joined by LF; comments and other fields are passed
// over; a byte order mark at the start is too. Unlike there, an event without its closing empty line counts when the
// stream ends properly, because servers leave it out.
type events struct {
	// max bounds what is kept of one event, in bytes. An event above it is passed over.
	max int
	// oversized is how many events were passed over.
	oversized int

	// whole is the event's only data line so far, when it lies in the bytes at hand; data is what else was kept.
	whole, data []byte
	hasData     bool
	over        bool

	// line is the start of a line whose end has not come; lineOver says that it is longer than max.
	line     []byte
	lineOver bool
	// afterCR is set when the last byte was a CR: a LF that follows belongs to it.
	afterCR bool
	started bool
}

// write takes the next bytes of the stream, cut anywhere, and calls emit for each event that they complete. What emit
// gets is valid only during the call. skip, unless it is nil, is asked where an event may begin: it says how many bytes
// the event takes that it has read itself, with the closing empty line, or 0.
func (e *events) write(p []byte, emit func([]byte), skip func([]byte) int) {
	// lf is the first LF at or after start. It is looked for once, so that lines that end in CR alone cost no more.
	lf := -1
	for start := 0; start < len(p); {
		if e.afterCR {
			e.afterCR = false
			if p[start] == '\n' {
				start++
				continue
			}
		}
		if skip != nil && !e.hasData && len(e.line) == 0 {
			if n := skip(p[start:]); n > 0 {
				start += n
				continue
			}
		}
		if lf < start {
			if lf = bytes.IndexByte(p[start:], '\n'); lf < 0 {
				lf = len(p)
			} else {
				lf += start
			}
		}
		end := lf
		if cr := bytes.IndexByte(p[start:lf], '\r'); cr >= 0 {
			end = start + cr
		}
		line := p[start:end]
		if end == len(p) {
			e.hold(line)
			break
		}
		held := len(e.line) > 0
		if held {
			e.hold(line)
			line = e.line
		}
		e.afterCR = p[end] == '\r'
		start = end + 1
		e.takeLine(line, emit)
		if held {
			// The room of a held line is used again.
			e.keep()
			e.line, e.lineOver = e.line[:0], false
		}
	}
	e.keep()
}

// fieldRoom is what a line may have beside its value: the mark, the name, the colon, the blank.
const fieldRoom = len("\xEF\xBB\xBFdata: ")

// hold keeps a part of a line until the rest comes. Of a line that is too long it keeps enough to tell what it is.
func (e *events) hold(part []byte) {
	if e.lineOver {
		return
	}
	if e.lineOver = len(e.line)+len(part) > e.max+fieldRoom; e.lineOver {
		part = part[:min(len(part), max(0, fieldRoom-len(e.line)))]
	}
	e.line = append(e.line, part...)
}

var (
	byteOrderMark = []byte("\xEF\xBB\xBF")
	dataField     = []byte("data")
)

func (e *events) takeLine(line []byte, emit func([]byte)) {
	if !e.started {
		e.started = true
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if len(line) == 0 {
		e.dispatch(emit)
		return
	}
	value, isData := bytes.CutPrefix(line, dataField)
	if !isData || len(value) > 0 && value[0] != ':' {
		return
	}
	if len(value) > 0 {
		value = value[1:]
	}
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	if !e.hasData {
		e.hasData = true
		if e.over = e.over || e.lineOver || len(value) > e.max; !e.over {
			e.whole = value
		}
		return
	}
	e.over = e.over || e.lineOver
	e.keep()
	e.append([]byte{'\n'})
	e.append(value)
}

// keep copies a data line that lies in bytes which will be gone.
func (e *events) keep() {
	if e.whole != nil {
		e.append(e.whole)
		e.whole = nil
	}
}

func (e *events) append(b []byte) {
	if e.over = e.over || len(e.data)+len(b) > e.max; !e.over {
		e.data = append(e.data, b...)
	}
}

func (e *events) dispatch(emit func([]byte)) {
	switch {
	case e.over:
		e.oversized++
	case e.whole != nil:
		emit(e.whole)
	case e.hasData:
		emit(e.data)
	}
	e.whole, e.data, e.hasData, e.over = nil, e.data[:0], false, false
}

// end is called at the proper end of the stream.
func (e *events) end(emit func([]byte)) {
	if len(e.line) > 0 {
		e.takeLine(e.line, emit)
		e.line, e.lineOver = nil, false
	}
	if e.hasData || e.over {
		e.dispatch(emit)
	}
}
