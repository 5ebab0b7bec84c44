package acceptance

import (
	"slices"
	"strconv"
)

// Histogram counts verify steps: element j is the number of steps that accepted exactly j draft tokens. A nil
// histogram was not reported; trailing zeros carry no meaning.
type Histogram []int64

// Steps is the number of steps counted, S.
func (h Histogram) Steps() int64 {
	var n int64
	for _, c := range h {
		n += c
	}
	return n
}

// Add returns the elementwise sum; it may reuse h.
func (h Histogram) Add(o Histogram) Histogram {
	if len(o) > len(h) {
		h = append(slices.Grow(h, len(o)-len(h)), make(Histogram, len(o)-len(h))...)
	}
	for j, c := range o {
		h[j] += c
	}
	return h
}

// Trim returns h without trailing zeros, so that equal histograms compare equal. It keeps a reported empty histogram
// apart from an absent one.
func (h Histogram) Trim() Histogram {
	for len(h) > 0 && h[len(h)-1] == 0 {
		h = h[:len(h)-1]
	}
	return h
}

// AppendJSON appends the sparse form that files have: {"0": 39, "1": 1, "3": 3} with ascending keys and no zeros.
func (h Histogram) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	first := true
	for j, c := range h {
		if c == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, '"')
		b = strconv.AppendInt(b, int64(j), 10)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, c, 10)
	}
	return append(b, '}')
}

// MarshalJSON gives the form of [Histogram.AppendJSON].
func (h Histogram) MarshalJSON() ([]byte, error) { return h.AppendJSON(nil), nil }

// ByDraftLength is the joint count of steps by draft length and accepted draft tokens: row d has up to d+1 elements,
// for 0..d accepted. Nil means not reported.
type ByDraftLength []Histogram

// Flat lists the rows one after the other, filled up to d+1 elements, the form that an int array attribute takes. No
// row may be longer.
func (b ByDraftLength) Flat() []int64 {
	var flat []int64
	for d, row := range b {
		flat = append(flat, row...)
		flat = append(flat, make([]int64, d+1-len(row))...)
	}
	return flat
}

// Unflatten is the inverse of [ByDraftLength.Flat]; ok is false when the length fits no number of rows.
func Unflatten(flat []int64) (b ByDraftLength, ok bool) {
	for d := 0; len(flat) > 0; d++ {
		if len(flat) < d+1 {
			return nil, false
		}
		b, flat = append(b, flat[:d+1]), flat[d+1:]
	}
	return b, true
}
