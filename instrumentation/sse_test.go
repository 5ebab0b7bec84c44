package instrumentation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// split runs a stream through the reader in parts and returns its events.
func split(max int, parts ...string) (list []string, oversized int) {
	e := events{max: max}
	keep := func(b []byte) { list = append(list, string(b)) }
	for _, p := range parts {
		e.write([]byte(p), keep, nil)
	}
	e.end(keep)
	return list, e.oversized
}

func TestEvents(t *testing.T) {
	for stream, want := range map[string][]string{
		"data: a\n\ndata: b\n\n":                 {"a", "b"},
		"data:a\n\n":                             {"a"},
		"data:  a\n\n":                           {" a"},
		"data: a\r\n\r\ndata: b\r\n\r\n":         {"a", "b"},
		"data: a\r\rdata: b\r\r":                 {"a", "b"},
		"data: a\ndata: b\n\n":                   {"a\nb"},
		"data\n\n":                               {""},
		"data:\n\n":                              {""},
		"data\ndata\n\n":                         {"\n"},
		": comment\ndata: a\n\n":                 {"a"},
		"event: x\nid: 1\ndata: a\nretry: 5\n\n": {"a"},
		"database: a\n\n":                        nil,
		"\n\n\n":                                 nil,
		"data: a":                                {"a"},
		"data: a\n":                              {"a"},
		"\xEF\xBB\xBFdata: a\n\n":                {"a"},
		"\n\xEF\xBB\xBFdata: a\n\n":              nil,
		"":                                       nil,
	} {
		got, _ := split(100, stream)
		require.Equal(t, want, got, "%q", stream)
		for cut := range stream {
			got, _ := split(100, stream[:cut], stream[cut:])
			require.Equal(t, want, got, "%q cut at %d", stream, cut)
		}
		var bytes []string
		for i := range len(stream) {
			bytes = append(bytes, stream[i:i+1])
		}
		got, _ = split(100, bytes...)
		require.Equal(t, want, got, "%q byte by byte", stream)
	}
}

// An event above the limit is passed over and counted, however it is cut, and the next ones are read.
func TestEventsAboveTheLimit(t *testing.T) {
	for _, stream := range []string{"data: 123456789\n\ndata: a\n\n", "data: 12345\ndata: 12345\n\ndata: a\n\n"} {
		for cut := range stream {
			got, oversized := split(8, stream[:cut], stream[cut:])
			require.Equal(t, []string{"a"}, got)
			require.Equal(t, 1, oversized)
		}
	}
	// A comment is no event, however long.
	const comment = ": 12345678901234567890\ndata: a\n\n"
	for cut := range comment {
		got, oversized := split(8, comment[:cut], comment[cut:])
		require.Equal(t, []string{"a"}, got)
		require.Zero(t, oversized)
	}
}

// The stream is the same whole, in two parts and byte by byte.
func FuzzEvents(f *testing.F) {
	f.Add("data: a\r\n\r\ndata:b\rdata: c\n\n", 3)
	f.Add("\xEF\xBB\xBF: x\ndata\n\n", 1)
	f.Fuzz(func(t *testing.T, stream string, cut int) {
		whole, _ := split(1<<20, stream)
		if cut >= 0 && cut <= len(stream) {
			parts, _ := split(1<<20, stream[:cut], stream[cut:])
			require.Equal(t, whole, parts)
		}
		var bytes []string
		for i := range len(stream) {
			bytes = append(bytes, stream[i:i+1])
		}
		parts, _ := split(1<<20, bytes...)
		require.Equal(t, whole, parts)
	})
}
