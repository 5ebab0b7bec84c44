package instrumentation

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzSplit compares what is taken apart with what encoding/json makes of it.
func FuzzSplit(f *testing.F) {
	f.Add(`{"a":1,"b":[{"c":"d\"\\"},null,true,-1.5e3],"a":{"x":"}"}}`)
	f.Add(` { "\u0061" : [ ] , "b" : "" } `)
	f.Add(`[1,"a",{},[[]]]`)
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // encoding/json replaces what is no UTF-8; here it stays.
		}
		var want map[string]json.RawMessage
		isObject := json.Unmarshal([]byte(text), &want) == nil && want != nil
		got, ok := decodeMembers([]byte(text))
		require.Equal(t, isObject, ok)
		for key, value := range want {
			require.Equal(t, string(value), string(got.get(key)))
			var s string
			if json.Unmarshal(value, &s) == nil {
				require.Equal(t, s, got.text(key))
			}
		}
		var elements []json.RawMessage
		if json.Unmarshal([]byte(text), &elements) == nil {
			require.Len(t, decodeList([]byte(text)), objects(elements))
		}
	})
}

func objects(elements []json.RawMessage) (n int) {
	for _, e := range elements {
		if e[0] == '{' {
			n++
		}
	}
	return n
}
