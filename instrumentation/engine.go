package instrumentation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
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

func compareClaims(x, y claim) int {
	return cmp.Or(cmp.Compare(x.adapter, y.adapter), cmp.Compare(x.choice, y.choice))
}

// claimed is a member that an adapter will read, and a copy of its bytes.
type claimed struct {
	claim
	raw json.RawMessage
}

// stats are the members that an answer has shown so far. In a stream the last one of each kind counts.
type stats struct {
	// members are in the order of their claims.
	members []claimed
	// size is the number of bytes kept, at most max.
	size, max int
	// unread says why there is no record although there are stats, if so: a part would be no record of the request.
	unread string
}

// look finds the adapters' members in a response or an event of one; index is the response's in a batch. What it keeps
// is a copy.
func (s *stats) look(root members, choices []members, index int) {
	if len(choices) > maxChoices {
		s.leave(tooMany)
		return
	}
	for i, a := range adapters {
		if !a.onChoice {
			s.put(claim{i, min(index, maxChoices)}, root.at(a.keys...))
			continue
		}
		for n, choice := range choices {
			if raw := choice.at(a.keys...); raw != nil {
				s.put(claim{i, choiceIndex(choice, n)}, raw)
			}
		}
	}
}

func (s *stats) put(c claim, raw json.RawMessage) {
	if raw == nil || s.unread != "" || !adapters[c.adapter].claim(raw) {
		return
	}
	place, known := slices.BinarySearchFunc(s.members, c, func(m claimed, c claim) int { return compareClaims(m.claim, c) })
	s.size += len(raw)
	if known {
		s.size -= len(s.members[place].raw)
	}
	if c.choice >= maxChoices {
		s.leave(tooMany)
		return
	}
	if s.size > s.max {
		s.leave(tooLarge("stats", s.max))
		return
	}
	if !known {
		s.members = slices.Insert(s.members, place, claimed{claim: c})
	}
	s.members[place].raw = append(s.members[place].raw[:0], raw...)
}

// leave gives the stats up, for a reason.
func (s *stats) leave(unread string) { s.members, s.unread = nil, unread }

var tooMany = fmt.Sprintf("stats of more than %d choices not read", maxChoices)

// maxChoices bounds how many choices of one answer are kept, whatever numbers a stream gives them. OpenAI's API has at
// most 128.
const maxChoices = 1024

// choiceIndex is which choice this is, at the given place of the list; maxChoices for any above the bound.
func choiceIndex(choice members, place int) int {
	if n, ok := choice.tokens("index").Get(); ok {
		return int(min(n, maxChoices))
	}
	return min(place, maxChoices)
}

// record makes one record of everything that was shown; nil without an error when nothing was. An error says which
// member broke which identity.
func (s *stats) record() (record *acceptance.Record, ignored string, err error) {
	for _, c := range s.members {
		if c.adapter != s.members[0].adapter {
			break
		}
		a := adapters[c.adapter]
		member := strings.Join(a.keys, ".")
		r, left, err := a.decode(c.raw)
		if err == nil {
			err = r.Validate()
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", member, err)
		}
		if left != "" {
			ignored = member + "." + left
		}
		if record == nil {
			record = r
			continue
		}
		record.Merge(r)
		if err := record.Validate(); err != nil {
			return nil, "", fmt.Errorf("%s of all choices: %w", member, err)
		}
	}
	return record, cmp.Or(ignored, s.unread), nil
}
