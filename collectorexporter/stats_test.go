package collectorexporter

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// oracle computes statistics the plain way: every value by itself, sorted, and a percentile by looking left and right
// of its place.
func oracle(values []float64) (avg, std float64, percentile func(q float64) float64) {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := float64(len(sorted))
	for _, v := range sorted {
		avg += v / n
	}
	for _, v := range sorted {
		std += (v - avg) * (v - avg) / n
	}
	return avg, math.Sqrt(std), func(q float64) float64 {
		place := q * (n - 1) / 100
		left, right := sorted[int(math.Floor(place))], sorted[int(math.Ceil(place))]
		share := place - math.Floor(place)
		return (1-share)*left + share*right
	}
}

func TestStatsAgainstOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		var values []float64
		var counted []weighted
		for range 1 + r.IntN(40) {
			v, n := r.Float64()*100, int64(1)
			if r.IntN(2) == 0 {
				v, n = float64(r.IntN(5)), 1+r.Int64N(4)
			}
			counted = append(counted, weighted{v, n})
			values = append(values, slices.Repeat([]float64{v}, int(n))...)
		}
		avg, std, percentile := oracle(values)
		s := newStats(counted)
		near := func(want, got float64) {
			require.InDelta(t, want, got, 1e-12*math.Max(100, math.Abs(want)), "%v", values)
		}
		near(avg, s.Avg)
		near(std, s.Std)
		near(avg*float64(len(values)), s.Sum)
		require.EqualValues(t, len(values), s.Count)
		require.Equal(t, slices.Min(values), s.Min)
		require.Equal(t, slices.Max(values), s.Max)
		for _, q := range percents {
			near(percentile(float64(q)), s.Percentile(q))
		}
	}
}

func TestStatsOfEqualValues(t *testing.T) {
	s := newStats([]weighted{{0.1, 2}, {0.1, 1}})
	require.Equal(t, 0.1, s.Avg)
	require.Zero(t, s.Std)
	require.Equal(t, 0.1, s.Percentile(99))
	require.Nil(t, newStats(nil))
}
