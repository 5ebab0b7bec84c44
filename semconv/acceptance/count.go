package acceptance

// Int is a count that may be absent, because an engine did not report it. The zero value is absent.
type Int struct {
	value int64
	known bool
}

// Some is a known count.
func Some(v int64) Int { return Int{value: v, known: true} }

// Get returns the count and whether it is known.
func (i Int) Get() (int64, bool) { return i.value, i.known }

// Plus adds two counts of which either may be absent: nothing known of a part means nothing known of the whole.
func (i Int) Plus(o Int) Int {
	if !i.known || !o.known {
		return Int{}
	}
	return Some(i.value + o.value)
}

// Ratio derives a figure from two counts; ok is false when the denominator is zero.
func Ratio(numerator, denominator int64) (ratio float64, ok bool) {
	if denominator == 0 {
		return 0, false
	}
	return float64(numerator) / float64(denominator), true
}
