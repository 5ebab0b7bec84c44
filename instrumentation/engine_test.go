package instrumentation

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	sglangKeys = `{"spec_num_correct_drafts":63,"spec_num_proposed_drafts":215,"spec_verify_ct":43,"spec_correct_drafts_histogram":[11,14,11,4,0,3]}`
	vllmSparse = `{"acceptance_histogram":{"0":39,"1":1,"3":3},"num_spec_steps":43,"num_accepted_draft_tokens":10,"num_draft_tokens":129,"num_spec_tokens":3}`
	trtKeys    = `{"acceptance_rate":0.5625,"total_accepted_draft_tokens":18,"total_draft_tokens":32,"acceptance_histogram":[1,1,2,3,1],"num_spec_steps":8,"num_spec_tokens":4}`
)

// Each shape is read by one adapter and by no other, and gives its record.
func TestClaimsAreDisjoint(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		want   *adapter
		record string
	}{
		"vLLM merged":    {`{` + statsMember + `}`, vllmMerged, `{"engine":"vllm","mean_acceptance_length":3.25,"draft_acceptance_rate":0.5625,"acceptance_histogram":{"0":1,"1":1,"2":2,"3":3,"4":1},"num_accepted_draft_tokens":18,"num_draft_tokens":32,"num_spec_steps":8,"num_spec_tokens":4,"per_step_accepted":[2,3,1,4,2,0,3,3],"per_step_drafted":[4,4,4,4,4,4,4,4]}`},
		"vLLM first":     {`{"choices":[{"speculative_decoding_stats":` + vllmSparse + `}]}`, vllmFirst, `{"engine":"vllm","mean_acceptance_length":1.2325581395348837,"draft_acceptance_rate":0.07751937984496124,"acceptance_histogram":{"0":39,"1":1,"3":3},"num_accepted_draft_tokens":10,"num_draft_tokens":129,"num_spec_steps":43,"num_spec_tokens":3}`},
		"SGLang":         {`{"sglext":{"spec_tokens_details":` + sglangKeys + `}}`, sglangDetails, sglangRecord},
		"SGLang choice":  {`{"choices":[{"meta_info":` + sglangKeys + `}]}`, sglangChoice, sglangRecord},
		"SGLang native":  {`{"text":"a","meta_info":` + sglangKeys + `}`, sglangNative, sglangRecord},
		"TensorRT-LLM":   {`{"choices":[{"speculative_decoding":` + trtKeys + `}]}`, tensorRTLLM, `{"engine":"tensorrt_llm","mean_acceptance_length":3.25,"draft_acceptance_rate":0.5625,"acceptance_histogram":{"0":1,"1":1,"2":2,"3":3,"4":1},"num_accepted_draft_tokens":18,"num_draft_tokens":32,"num_spec_steps":8,"num_spec_tokens":4}`},
		"llama.cpp":      {`{"timings":{"predicted_n":111,"draft_n":120,"draft_n_accepted":60}}`, llamaCPP, `{"engine":"llama_cpp","draft_acceptance_rate":0.5,"num_accepted_draft_tokens":60,"num_draft_tokens":120}`},
		"mlx-vlm":        {`{"timings":{"predicted_n":111,"draft_kind":"dflash","draft_rounds":40,"draft_n":120,"draft_n_accepted":60}}`, mlxVLM, `{"engine":"mlx_vlm","mean_acceptance_length":2.5,"draft_acceptance_rate":0.5,"num_accepted_draft_tokens":60,"num_draft_tokens":120,"num_spec_steps":40}`},
		"no draft":       {`{"timings":{"predicted_n":111}}`, nil, ""},
		"SGLang zeros":   {`{"meta_info":{"spec_num_correct_drafts":0,"spec_num_proposed_drafts":0,"spec_verify_ct":0,"spec_correct_drafts_histogram":[]}}`, nil, ""},
		"other metadata": {`{"meta_info":{"id":"x"},"choices":[{"meta_info":{}}],"metrics":{"time_to_first_token_ms":1},"sglext":{}}`, nil, ""},
		"predictions":    {`{"usage":{"completion_tokens_details":{"accepted_prediction_tokens":7,"rejected_prediction_tokens":3}}}`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root, ok := decodeMembers([]byte(c.body))
			require.True(t, ok)
			s := stats{max: DefaultMaxBody}
			s.look(root, root.list("choices"), 0)
			if c.want == nil {
				require.Empty(t, s.members)
				return
			}
			require.Len(t, s.members, 1)
			for _, claim := range s.members {
				require.Same(t, c.want, adapters[claim.adapter])
			}
			r, ignored, err := s.record()
			require.NoError(t, err)
			require.Empty(t, ignored)
			b, err := json.Marshal(r)
			require.NoError(t, err)
			require.JSONEq(t, c.record, string(b))
		})
	}
}

const sglangRecord = `{"engine":"sglang","mean_acceptance_length":2.4651162790697674,"draft_acceptance_rate":0.2930232558139535,"acceptance_histogram":{"0":11,"1":14,"2":11,"3":4,"5":3},"num_accepted_draft_tokens":63,"num_draft_tokens":215,"num_spec_steps":43}`

// Every name that a build of SGLang has used leads to the same record.
func TestSGLangNames(t *testing.T) {
	for _, accepted := range sglangAccepted {
		for _, drafted := range sglangDrafted {
			for _, histogram := range sglangHistogram {
				body := `{"` + accepted + `":63,"` + drafted + `":215,"spec_verify_ct":43,"` + histogram + `":[11,14,11,4,0,3]}`
				r, _, err := decodeSGLang([]byte(body))
				require.NoError(t, err)
				b, err := json.Marshal(r)
				require.NoError(t, err)
				require.JSONEq(t, sglangRecord, string(b))
			}
		}
	}
}
