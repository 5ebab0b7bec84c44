package instrumentation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/specdecode/otel/semconv/acceptance"
)

// adapter reads one shape of one engine, and only that shape: its keys lead to a member that no other engine sends.
type adapter struct {
	// engine is the name that records of this shape get.
	engine string
	// onChoice is set when the member is on each choice, and not at the root of the response.
	onChoice bool
	// keys lead to the member. A member that is null or missing is no claim.
	keys []string
	// claims, when not nil, tells by the member's own members whether it is this engine's; the keys alone do otherwise.
	claims func(members) bool
	// decode makes the record of the member. ignored names a part of it that contradicts the rest and was left out.
	// The record is validated afterwards; an error says what is wrong with the member.
	decode func(json.RawMessage) (record *acceptance.Record, ignored string, err error)
}

// adapters are all shapes that are read. When an answer has several, the first one here counts: they are the same
// request's.
var adapters = []*adapter{vllmMerged, vllmFirst, sglangDetails, sglangChoice, sglangNative, tensorRTLLM, llamaCPP, mlxVLM}

// interesting are the members that make an event of a stream worth decoding, quoted as they stand in it.
var interesting = func() [][]byte {
	list := [][]byte{[]byte(`"finish_reason"`), []byte(`"usage"`), []byte(`"error"`), []byte(`"response"`), []byte(`"stop"`)}
	for _, a := range adapters {
		name := []byte(`"` + a.keys[0] + `"`)
		if !slices.ContainsFunc(list, func(b []byte) bool { return bytes.Equal(b, name) }) {
			list = append(list, name)
		}
	}
	return list
}()

// claim reports whether the member is one that the adapter reads. One that cannot be looked into is, if no other
// adapter reads members of its place: it is corrupt.
func (a *adapter) claim(raw json.RawMessage) bool {
	if a.claims == nil {
		return true
	}
	m, ok := decodeMembers(raw)
	return ok && a.claims(m)
}

// claim is a member that an adapter will read, of one choice.
type claim struct {
	adapter int
	choice  int
}

// stats are the members that an answer has shown so far. In a stream the last one of each kind counts.
type stats map[claim]json.RawMessage

// maxClaims bounds how many choices of one answer are kept, whatever numbers a stream gives them.
const maxClaims = 1024

// look finds the adapters' members in a response or an event of one; index is the response's in a batch. What it keeps
// is a copy.
func (s *stats) look(root members, choices []members, index int) {
	put := func(c claim, raw json.RawMessage) {
		if raw == nil || !adapters[c.adapter].claim(raw) {
			return
		}
		if *s == nil {
			*s = stats{}
		}
		if _, seen := (*s)[c]; !seen && len(*s) >= maxClaims {
			return
		}
		(*s)[c] = append(json.RawMessage(nil), raw...)
	}
	for i, a := range adapters {
		if !a.onChoice {
			put(claim{i, index}, root.at(a.keys...))
			continue
		}
		for n, choice := range choices {
			if v, err := parseCount(choice.get("index")); err == nil {
				n = int(v)
			}
			put(claim{i, n}, choice.at(a.keys...))
		}
	}
}

// record makes one record of everything that was shown; nil without an error when nothing was. An error says which
// member broke which identity.
func (s stats) record() (record *acceptance.Record, ignored string, err error) {
	claims := slices.SortedFunc(maps.Keys(s), func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.adapter, b.adapter), cmp.Compare(a.choice, b.choice))
	})
	for i, a := range adapters {
		for _, c := range claims {
			if c.adapter != i {
				continue
			}
			r, left, err := a.decode(s[c])
			if err == nil {
				err = r.Validate()
			}
			member := strings.Join(a.keys, ".")
			if err != nil {
				return nil, "", fmt.Errorf("%s: %w", member, err)
			}
			if left != "" {
				ignored = member + "." + left
			}
			if record == nil {
				record = r
			} else {
				record.Merge(r)
			}
		}
		if record != nil {
			return record, ignored, nil
		}
	}
	return nil, "", nil
}
