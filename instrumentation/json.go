package instrumentation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/specdecode/otel/semconv/acceptance"
)

// members are a JSON object's members as they were sent, in order. Names and values lie in the bytes that were
// decoded: looking into an answer copies nothing. Of members with the same name the last one counts.
type members []member

type member struct {
	key   []byte
	value json.RawMessage
}

// decodeMembers reads an object; ok is false for anything else. encoding/json checks it, with its bound on nesting.
func decodeMembers(raw []byte) (m members, ok bool) {
	raw = skipSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return nil, false
	}
	return splitObject(raw), true
}

// get is the value of a member, nil when there is none.
func (m members) get(key string) json.RawMessage {
	for i := len(m) - 1; i >= 0; i-- {
		if string(m[i].key) == key {
			return m[i].value
		}
	}
	return nil
}

// has reports whether the member is there and not null.
func (m members) has(key string) bool {
	v := m.get(key)
	return len(v) > 0 && !isNull(v)
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// at follows the keys through objects; it returns nil when there is nothing, or null.
func (m members) at(keys ...string) json.RawMessage {
	for i, key := range keys {
		if !m.has(key) {
			return nil
		}
		if i == len(keys)-1 {
			return m.get(key)
		}
		m = m.object(key)
	}
	return nil
}

// text returns a string member, or "" when it is something else.
func (m members) text(key string) string {
	v := m.get(key)
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	return unquote(v)
}

// unquote decodes a valid JSON string.
func unquote(v []byte) string {
	if plain := v[1 : len(v)-1]; bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain)
	}
	var s string
	_ = json.Unmarshal(v, &s)
	return s
}

// object returns a member that is an object, or nil.
func (m members) object(key string) members {
	if v := m.get(key); len(v) > 0 && v[0] == '{' {
		return splitObject(v)
	}
	return nil
}

// list returns an array member's elements that are objects.
func (m members) list(key string) []members { return objectsOf(m.get(key)) }

// decodeList reads an array's elements that are objects; nil for anything else.
func decodeList(raw []byte) []members {
	raw = skipSpace(raw)
	if !json.Valid(raw) {
		return nil
	}
	return objectsOf(raw)
}

// objectsOf stops after one object more than is looked at.
func objectsOf(raw json.RawMessage) (list []members) {
	for _, e := range elements(raw) {
		if len(list) > maxChoices {
			break
		}
		if e[0] == '{' {
			list = append(list, splitObject(e))
		}
	}
	return list
}

// tokens returns a member that is a count, or nothing when it is something else.
func (m members) tokens(key string) acceptance.Int {
	if n, err := parseCount(m.get(key)); err == nil && n >= 0 {
		return acceptance.Some(n)
	}
	return acceptance.Int{}
}

var errMissing = errors.New("is missing")

// parseCount reads an integer literal: no boolean, no string, no fraction, no exponent.
func parseCount(raw json.RawMessage) (int64, error) {
	if len(raw) == 0 || isNull(raw) {
		return 0, errMissing
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("is out of range (%s)", clip(raw))
	}
	if err != nil {
		return 0, fmt.Errorf("is no integer (%s)", clip(raw))
	}
	return n, nil
}

// count reads a required count.
func (m members) count(key string) (int64, error) {
	n, err := parseCount(m.get(key))
	if err != nil {
		return 0, fmt.Errorf("%s %w", key, err)
	}
	return n, nil
}

// optionalCount reads a count that may be missing or null.
func (m members) optionalCount(key string) (acceptance.Int, error) {
	if !m.has(key) {
		return acceptance.Int{}, nil
	}
	n, err := m.count(key)
	return acceptance.Some(n), err
}

// counts reads a required array of counts.
func (m members) counts(key string) ([]int64, error) {
	if !m.has(key) {
		return nil, fmt.Errorf("%s %w", key, errMissing)
	}
	return parseCounts(key, m.get(key))
}

func parseCounts(key string, array json.RawMessage) ([]int64, error) {
	if array[0] != '[' {
		return nil, fmt.Errorf("%s is no array (%s)", key, clip(array))
	}
	counts := make([]int64, 0, min(bytes.Count(array, []byte(","))+1, 64))
	for i, e := range elements(array) {
		n, err := parseCount(e)
		if err != nil {
			return nil, fmt.Errorf("%s[%d] %w", key, i, err)
		}
		counts = append(counts, n)
	}
	return counts, nil
}

// optionalCounts reads an array of counts that may be missing or null.
func (m members) optionalCounts(key string) ([]int64, error) {
	if !m.has(key) {
		return nil, nil
	}
	return m.counts(key)
}

// clip shortens a value that is quoted in an error.
func clip(raw []byte) string { return cleaned(string(raw), 40) }
