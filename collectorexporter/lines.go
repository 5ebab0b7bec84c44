package collectorexporter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/renameio/v2"
)

// lines is a JSONL file in the making. It gets its name when the run is complete.
type lines struct {
	path string
	file *renameio.PendingFile
	buf  *bufio.Writer
	enc  bytes.Buffer
}

func newLines(path string) (*lines, error) {
	f, err := newFile(path)
	if err != nil {
		return nil, err
	}
	return &lines{path: path, file: f, buf: bufio.NewWriterSize(f, 64<<10)}, nil
}

// add appends v as one line.
func (l *lines) add(v any) error {
	l.enc.Reset()
	// Encode ends each value with the line's end.
	if err := json.NewEncoder(&l.enc).Encode(v); err != nil {
		return fmt.Errorf("cannot encode a line of %s: %w", l.path, err)
	}
	if _, err := l.buf.Write(l.enc.Bytes()); err != nil {
		return fmt.Errorf("cannot write %s: %w", l.path, err)
	}
	return nil
}

// flush hands what was added to the operating system.
func (l *lines) flush() error {
	if err := l.buf.Flush(); err != nil {
		return fmt.Errorf("cannot write %s: %w", l.path, err)
	}
	return nil
}

func (l *lines) close() error {
	if err := l.flush(); err != nil {
		return err
	}
	return closeFile(l.path, l.file)
}

// discard removes the temporary file of lines that were not closed.
func (l *lines) discard() { _ = l.file.Cleanup() }
