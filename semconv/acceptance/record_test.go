package acceptance

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// worked is the worked example: steps that accept 2,3,1,4,2,0,3,3 of 4 draft tokens each.
func worked() *Record {
	return &Record{
		Engine: "vllm", Accepted: 18, Drafted: 32, Steps: Some(8), MaxDraft: Some(4),
		Histogram:    Histogram{1, 1, 2, 3, 1},
		StepAccepted: []int64{2, 3, 1, 4, 2, 0, 3, 3},
		StepDrafted:  []int64{4, 4, 4, 4, 4, 4, 4, 4},
	}
}

func TestWorkedExample(t *testing.T) {
	r := worked()
	require.NoError(t, r.Validate())
	length, ok := r.Triple().Length()
	require.True(t, ok)
	require.Equal(t, 3.25, length)
	rate, ok := r.Triple().Rate()
	require.True(t, ok)
	require.Equal(t, 0.5625, rate)
	used, ok := r.Triple().PerVerified()
	require.True(t, ok)
	require.Equal(t, 0.65, used)

	var p Pool
	p.Add(r)
	p.Add(&Record{Accepted: 2, Drafted: 12, Steps: Some(3), Histogram: Histogram{1, 2}})
	p.Add(&Record{Steps: Some(0), Histogram: Histogram{0, 0}})
	require.Equal(t, Histogram{2, 3, 2, 3, 1}, p.Histogram)
	require.EqualValues(t, 2, p.Requests())
	require.EqualValues(t, 1, p.ZeroStep)
	totals := p.Totals()
	require.Equal(t, Totals{Accepted: 20, Drafted: 44, Steps: 11, AcceptedInSteps: 20}, totals)
	length, _ = totals.Length()
	require.Equal(t, 1+20./11, length)
	rate, _ = totals.Rate()
	require.Equal(t, 20./44, rate)
}

func TestValidateNamesTheBrokenIdentity(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Record)
		want   string
	}{
		"steps":            {func(r *Record) { r.Steps = Some(9) }, "the histogram counts 8 steps, not 9"},
		"accepted":         {func(r *Record) { r.Accepted = 17 }, "the histogram's accepted tokens are 18, not 17"},
		"over drafted":     {func(r *Record) { r.Drafted = 17 }, "accepted draft tokens (18) exceed draft tokens (17)"},
		"negative bucket":  {func(r *Record) { r.Histogram = Histogram{2, 1, 2, 3, 1, -1}; r.MaxDraft = Int{} }, "a count is negative (-1)"},
		"negative total":   {func(r *Record) { r.Drafted = -1 }, "a count is negative (-1)"},
		"out of range":     {func(r *Record) { r.Drafted = math.MaxInt64 }, "a count is out of range (9223372036854775807)"},
		"longer than k":    {func(r *Record) { r.Histogram = append(r.Histogram, 0) }, "the histogram has 6 buckets, with at most 4 draft tokens per step"},
		"no steps":         {func(r *Record) { r.Steps = Int{} }, "a histogram without a number of steps"},
		"huge bucket":      {func(r *Record) { r.Histogram[4] = MaxCount }, "the histogram's accepted tokens exceed 18"},
		"endless":          {func(r *Record) { r.Histogram = make(Histogram, MaxDraftLength+2); r.MaxDraft = Int{} }, "the histogram has 4098 buckets, more than 4097"},
		"per-step length":  {func(r *Record) { r.StepDrafted = r.StepDrafted[1:] }, "per-step arrays of 8 and 7 entries for 8 steps"},
		"one per-step":     {func(r *Record) { r.StepAccepted = nil }, "per-step arrays of 0 and 8 entries for 8 steps"},
		"per-step sum":     {func(r *Record) { r.StepDrafted[0] = 5 }, "per-step arrays sum to 18 of 33 draft tokens, not 18 of 32"},
		"per-step over":    {func(r *Record) { r.StepDrafted[1] = 2; r.StepDrafted[0] = 6 }, "step 1 accepts 3 of 2 draft tokens"},
		"per-step without": {func(r *Record) { r.Steps, r.Histogram = Int{}, nil }, "per-step arrays of 8 and 8 entries for 0 steps"},
	} {
		t.Run(name, func(t *testing.T) {
			r := worked()
			c.change(r)
			require.EqualError(t, r.Validate(), c.want)
		})
	}
}

// An engine that reports totals alone (llama.cpp) has a rate and nothing that needs steps.
func TestRecordWithoutSteps(t *testing.T) {
	r := &Record{Engine: "llama_cpp", Accepted: 60, Drafted: 120}
	require.NoError(t, r.Validate())
	_, ok := r.Triple().Length()
	require.False(t, ok)
	_, ok = r.Triple().PerVerified()
	require.False(t, ok)

	// Run-level ratios use only the records that have both terms.
	p := Pool{}
	p.Add(r)
	p.Add(worked())
	length, _ := p.Totals().Length()
	require.Equal(t, 3.25, length)
	rate, _ := p.Totals().Rate()
	require.Equal(t, 78./152, rate)
	require.EqualValues(t, 1, p.Histograms)

	b, err := json.Marshal(r)
	require.NoError(t, err)
	require.JSONEq(t, `{"engine":"llama_cpp","draft_acceptance_rate":0.5,"num_accepted_draft_tokens":60,"num_draft_tokens":120}`, string(b))
}

func TestJSON(t *testing.T) {
	r := worked()
	r.Histogram[1] = 0
	r.CompletionTokens = Some(27)
	b, err := json.Marshal(r)
	require.NoError(t, err)
	require.Equal(t, `{"engine":"vllm","mean_acceptance_length":3.25,"draft_acceptance_rate":0.5625,`+
		`"acceptance_histogram":{"0":1,"2":2,"3":3,"4":1},"num_accepted_draft_tokens":18,"num_draft_tokens":32,`+
		`"num_spec_steps":8,"num_spec_tokens":4,"completion_tokens":27,`+
		`"per_step_accepted":[2,3,1,4,2,0,3,3],"per_step_drafted":[4,4,4,4,4,4,4,4]}`, string(b))
}

func TestMergeChoices(t *testing.T) {
	r := worked()
	r.CompletionTokens = Some(58)
	r.Merge(&Record{Accepted: 2, Drafted: 12, Steps: Some(3), MaxDraft: Some(5), Histogram: Histogram{1, 2}})
	require.Equal(t, &Record{Engine: "vllm", Accepted: 20, Drafted: 44, Steps: Some(11), MaxDraft: Some(5),
		Histogram: Histogram{2, 3, 2, 3, 1}, CompletionTokens: Some(58)}, r)

	r.Merge(&Record{Accepted: 1, Drafted: 1})
	require.Equal(t, &Record{Engine: "vllm", Accepted: 21, Drafted: 45, CompletionTokens: Some(58)}, r)
}

func TestByDraftLength(t *testing.T) {
	joint := func() *Record {
		return &Record{Accepted: 4, Drafted: 7, Steps: Some(4), Histogram: Histogram{1, 2, 1},
			ByDraftLength: ByDraftLength{nil, {1, 1}, {0, 1, 0}, {0, 0, 1, 0}}}
	}
	require.NoError(t, joint().CheckByDraftLength())
	for want, change := range map[string]func(*Record){
		"8 draft tokens, not 7":                        func(r *Record) { r.ByDraftLength[1][1]++ },
		"row 1 has 3 columns":                          func(r *Record) { r.ByDraftLength[1] = Histogram{1, 1, 0} },
		"the histogram's accepted tokens are 5, not 4": func(r *Record) { r.ByDraftLength[3] = Histogram{0, 0, 0, 1} },
		"the histogram counts 5 steps, not 4":          func(r *Record) { r.ByDraftLength[0] = Histogram{1} },
		"a count is negative (-1)":                     func(r *Record) { r.ByDraftLength[2][2] = -1 },
		"draft tokens exceed 7":                        func(r *Record) { r.ByDraftLength[3][0] = MaxCount },
	} {
		r := joint()
		change(r)
		require.EqualError(t, r.CheckByDraftLength(), want)
	}

	flat := []int64{0, 1, 1, 0, 1, 0, 0, 0, 1, 0}
	rows, ok := Unflatten(flat)
	require.True(t, ok)
	require.Equal(t, ByDraftLength{{0}, {1, 1}, {0, 1, 0}, {0, 0, 1, 0}}, rows)
	require.Equal(t, flat, rows.Flat())
	_, ok = Unflatten(flat[:9])
	require.False(t, ok)
}

// Any split of the records over pools, merged in any order, is the same pool.
func TestPoolsMergeExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		records := make([]*Record, r.IntN(30))
		for i := range records {
			h := make(Histogram, 1+r.IntN(6))
			rec := &Record{}
			for j := range h {
				h[j] = r.Int64N(3)
				rec.Accepted += int64(j) * h[j]
			}
			rec.Drafted = rec.Accepted + r.Int64N(5)
			if r.IntN(4) > 0 {
				rec.Steps, rec.Histogram = Some(h.Steps()), h
			}
			records[i] = rec
		}
		var whole Pool
		parts := make([]Pool, 1+r.IntN(4))
		for _, rec := range records {
			whole.Add(rec)
			parts[r.IntN(len(parts))].Add(rec)
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		var merged Pool
		for i := range parts {
			merged.Merge(&parts[i])
		}
		require.Equal(t, whole.Triples, merged.Triples)
		require.Equal(t, slices.Clip(whole.Histogram.Trim()), slices.Clip(merged.Histogram.Trim()))
		require.Equal(t, whole.Totals(), merged.Totals())
		require.Equal(t, whole.ZeroStep, merged.ZeroStep)
		require.Equal(t, whole.Histograms, merged.Histograms)
	}
}

func BenchmarkPoolAdd(b *testing.B) {
	var p Pool
	r := worked()
	b.ReportAllocs()
	for b.Loop() {
		p.Add(r)
	}
}
