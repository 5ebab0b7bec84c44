package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxLine bounds a line of a file, in bytes.
const maxLine = 16 << 20

// unprepared is the prefix of the text that SPEED-Bench's files hold where licences forbid to pass prompts on.
const unprepared = "FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH"

// File reads a file of JSON lines, one prompt a line: SpecBench's question.jsonl and SPEED-Bench's files, of which the
// first turn is taken, or objects with a "prompt" or a "text". Errors name the file, and the line if there is one.
func File(path string) (*Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	prompts, format, err := decode(f, path)
	if err != nil {
		return nil, err
	}
	return &Source{format: format, prompts: prompts}, nil
}

// line is one line of any of the formats.
type line struct {
	ID       json.RawMessage `json:"question_id"`
	Category string          `json:"category"`
	Turns    []string        `json:"turns"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Prompt *string `json:"prompt"`
	Text   *string `json:"text"`
}

// decode reads all lines. The format is that of the first one.
func decode(r io.Reader, name string) (prompts []Prompt, format string, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	n := 0
	for s.Scan() {
		n++
		text := s.Bytes()
		if n == 1 {
			text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		p, f, err := decodeLine(text)
		if err != nil {
			return nil, "", fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if p.ID == "" {
			p.ID = fmt.Sprint(n)
		}
		if format == "" {
			format = f
		}
		prompts = append(prompts, p)
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, "", fmt.Errorf("%s:%d: the line is longer than %d bytes", name, n+1, maxLine)
	case err != nil:
		return nil, "", fmt.Errorf("%s: %w", name, err)
	case len(prompts) == 0:
		return nil, "", fmt.Errorf("%s: no prompts in the file", name)
	}
	return prompts, format, nil
}

func decodeLine(text []byte) (p Prompt, format string, err error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return p, "", fmt.Errorf("not a prompt in JSON: %w", err)
	}
	p.Category = l.Category
	if json.Unmarshal(l.ID, &p.ID) != nil && string(l.ID) != "null" {
		p.ID = string(l.ID) // A number.
	}
	switch {
	case l.Turns != nil:
		format, p.Text = FormatSpecBench, first(l.Turns)
	case l.Messages != nil:
		format = FormatSpeedBench
		for _, m := range l.Messages {
			if m.Role == "user" {
				p.Text = m.Content
				break
			}
		}
	case l.Prompt != nil:
		format, p.Text = FormatSingleTurn, *l.Prompt
	case l.Text != nil:
		format, p.Text = FormatSingleTurn, *l.Text
	default:
		return p, "", errors.New(`no "turns", "messages", "prompt" or "text" in the object`)
	}
	if strings.Contains(p.Text, unprepared) {
		return p, "", errors.New("SPEED-Bench data that was not prepared: the prompts must be fetched from their sources with specdec_bench first")
	}
	if strings.TrimSpace(p.Text) == "" {
		return p, "", errors.New("the prompt is empty")
	}
	return p, format, nil
}

func first(turns []string) string {
	if len(turns) == 0 {
		return ""
	}
	return turns[0]
}
