package instrumentation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/specdecode/otel/semconv/acceptance"
)

// members are a JSON object's members as they were sent.
type members map[string]json.RawMessage

// decodeMembers reads an object; ok is false for anything else.
func decodeMembers(raw []byte) (m members, ok bool) {
	if len(raw) == 0 {
		return nil, false
	}
	err := json.Unmarshal(raw, &m)
	if err != nil || m == nil {
		return nil, false
	}
	return m, true
}

// has reports whether the member is there and not null.
func (m members) has(key string) bool { return len(m[key]) > 0 && !isNull(m[key]) }

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// at follows the keys through objects; it returns nil when there is nothing, or null.
func (m members) at(keys ...string) json.RawMessage {
	for i, key := range keys {
		if !m.has(key) {
			return nil
		}
		if i == len(keys)-1 {
			return m[key]
		}
		var ok bool
		if m, ok = decodeMembers(m[key]); !ok {
			return nil
		}
	}
	return nil
}

// text returns a string member, or "" when it is something else.
func (m members) text(key string) string {
	var s string
	if m.has(key) {
		_ = json.Unmarshal(m[key], &s)
	}
	return s
}

// object returns a member that is an object, or nil.
func (m members) object(key string) members {
	o, _ := decodeMembers(m[key])
	return o
}

// list returns an array member's elements that are objects.
func (m members) list(key string) []members {
	if !m.has(key) {
		return nil
	}
	return decodeList(m[key])
}

// decodeList reads an array's elements that are objects; nil for anything else.
func decodeList(raw []byte) []members {
	var elements []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &elements) != nil {
		return nil
	}
	list := make([]members, 0, len(elements))
	for _, e := range elements {
		if o, ok := decodeMembers(e); ok {
			list = append(list, o)
		}
	}
	return list
}

// tokens returns a member that is a count, or nothing when it is something else.
func (m members) tokens(key string) acceptance.Int {
	if n, err := parseCount(m[key]); err == nil && n >= 0 {
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
	n, err := parseCount(m[key])
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
	return parseCounts(key, m[key])
}

func parseCounts(key string, array json.RawMessage) ([]int64, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(array, &raw); err != nil {
		return nil, fmt.Errorf("%s is no array (%s)", key, clip(array))
	}
	counts := make([]int64, len(raw))
	for i, r := range raw {
		n, err := parseCount(r)
		if err != nil {
			return nil, fmt.Errorf("%s[%d] %w", key, i, err)
		}
		counts[i] = n
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
func clip(raw []byte) string { return cleaned(string(bytes.TrimSpace(raw)), 40) }
