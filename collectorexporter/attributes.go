package collectorexporter

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/otel/attribute"

	"github.com/specdecode/otel/semconv/acceptance"
)

// attributes reads typed attributes and remembers the first one that has another type. Absent ones are zero values.
type attributes struct {
	pcommon.Map
	err error
}

func (a *attributes) get(key attribute.Key, want pcommon.ValueType) (v pcommon.Value, ok bool) {
	v, ok = a.Get(string(key))
	if ok && v.Type() != want {
		a.fail("attribute %s is %s, not %s", key, v.Type(), want)
		return v, false
	}
	return v, ok
}

func (a *attributes) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}

func (a *attributes) text(key attribute.Key) string {
	if v, ok := a.get(key, pcommon.ValueTypeStr); ok {
		return bounded(v.Str(), maxText)
	}
	return ""
}

// whole returns a string however long it is, for contents that make no sense when cut.
func (a *attributes) whole(key attribute.Key) string {
	if v, ok := a.get(key, pcommon.ValueTypeStr); ok {
		return v.Str()
	}
	return ""
}

func (a *attributes) count(key attribute.Key) acceptance.Int {
	if v, ok := a.get(key, pcommon.ValueTypeInt); ok {
		return acceptance.Some(v.Int())
	}
	return acceptance.Int{}
}

func (a *attributes) int(key attribute.Key) int64 {
	n, _ := a.count(key).Get()
	return n
}

// ints returns nil when the attribute is absent, and an empty slice when it is an empty array.
func (a *attributes) ints(key attribute.Key) []int64 {
	v, ok := a.get(key, pcommon.ValueTypeSlice)
	if !ok {
		return nil
	}
	s := v.Slice()
	ints := make([]int64, s.Len())
	for i := range ints {
		if s.At(i).Type() != pcommon.ValueTypeInt {
			a.fail("attribute %s has an element that is %s, not %s", key, s.At(i).Type(), pcommon.ValueTypeInt)
			return nil
		}
		ints[i] = s.At(i).Int()
	}
	return ints
}

func (a *attributes) flag(key attribute.Key) bool {
	v, ok := a.get(key, pcommon.ValueTypeBool)
	return ok && v.Bool()
}
