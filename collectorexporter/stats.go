package collectorexporter

import (
	"cmp"
	"math"
	"slices"
)

// weighted is a value and how many requests have it.
type weighted struct {
	value float64
	count int64
}

// percents are the percentiles that reports list, in order.
var percents = [...]int{1, 5, 10, 25, 50, 75, 90, 95, 99}

// Stats are the statistics of one per-request metric.
type Stats struct {
	Avg, Min, Max, Sum float64
	// Std is the population standard deviation.
	Std float64
	// Count is how many requests have the metric.
	Count int64
	// percentiles go with percents.
	percentiles [len(percents)]float64
}

// Percentile returns the q-th percentile, one of 1, 5, 10, 25, 50, 75, 90, 95 and 99.
func (s *Stats) Percentile(q int) float64 { return s.percentiles[slices.Index(percents[:], q)] }

// newStats computes statistics, or nil when there is nothing to compute from. It sorts values, and sums in
// that order with the rounding error carried along, so that the order of arrival changes no digit.
func newStats(values []weighted) *Stats {
	if len(values) == 0 {
		return nil
	}
	values = distinct(values)
	var n int64
	for _, v := range values {
		n += v.count
	}
	s := &Stats{Count: n, Min: values[0].value, Max: values[len(values)-1].value}
	s.Sum = sum(values, func(x float64) float64 { return x })
	s.Avg = s.Sum / float64(n)
	s.Std = math.Sqrt(sum(values, func(x float64) float64 { return (x - s.Avg) * (x - s.Avg) }) / float64(n))
	if s.Min == s.Max {
		// The mean of equal values can differ from them in its last digit.
		s.Avg, s.Std = s.Min, 0
	}
	s.rank(values)
	return s
}

// distinct sorts values and makes equal ones one, in place: what is left does not depend on their order before.
func distinct(values []weighted) []weighted {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	kept := values[:1]
	for _, v := range values[1:] {
		if last := &kept[len(kept)-1]; last.value == v.value {
			last.count += v.count
		} else {
			kept = append(kept, v)
		}
	}
	return kept
}

// rank fills the percentiles by linear interpolation between closest ranks, numpy's default: of n sorted values, the
// q-th percentile stands at h = q/100·(n-1), between the values at ⌊h⌋ and ⌊h⌋+1.
func (s *Stats) rank(sorted []weighted) {
	var at int     // the element of sorted that holds the current rank
	var from int64 // the rank of its first occurrence
	for i, q := range percents {
		h := float64(q) / 100 * float64(s.Count-1)
		rank := int64(h)
		for rank >= from+sorted[at].count {
			from += sorted[at].count
			at++
		}
		lower, upper := sorted[at].value, sorted[at].value
		if rank+1 >= from+sorted[at].count && at+1 < len(sorted) {
			upper = sorted[at+1].value
		}
		s.percentiles[i] = lower + (h-float64(rank))*(upper-lower)
	}
}

// sum adds f of all values with Neumaier's compensation.
func sum(values []weighted, f func(float64) float64) float64 {
	var total, lost float64
	for _, v := range values {
		x := f(v.value) * float64(v.count)
		t := total + x
		if math.Abs(total) >= math.Abs(x) {
			lost += (total - t) + x
		} else {
			lost += (x - t) + total
		}
		total = t
	}
	return total + lost
}
