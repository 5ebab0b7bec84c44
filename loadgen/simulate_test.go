package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/specdecode/otel/loadgen/simulator"
)

// Each engine's form goes all the way to the report, streamed and not, with what the engine reports and no more.
func TestSimulateEveryEngine(t *testing.T) {
	var want []int64
	for _, engine := range simulator.Engines() {
		for _, streaming := range []string{"--streaming", "--no-streaming"} {
			t.Run(engine+streaming, func(t *testing.T) {
				dir := t.TempDir()
				status, stdout, stderr := runLoadgen(t, "--simulate", engine, streaming, "--request-count", "24", "--artifact-dir", dir)
				require.Zero(t, status, stderr)
				require.Contains(t, stdout, "in the form of "+engine+".\n")
				b, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
				require.NoError(t, err)
				var got map[string]json.RawMessage
				require.NoError(t, json.Unmarshal(b, &got))
				total := func(tag string) int64 {
					var m struct{ Avg int64 }
					if got[tag] == nil {
						return -1
					}
					require.NoError(t, json.Unmarshal(got[tag], &m))
					return m.Avg
				}
				totals := []int64{total("total_accepted_draft_tokens"), total("total_draft_tokens"), total("total_spec_decode_steps"), total("total_osl")}
				if want == nil {
					want = totals
				}
				// The same seed is the same run in every form; what an engine does not report is absent.
				expect := append([]int64(nil), want...)
				_, histogram := got["pooled_spec_decode_acceptance_histogram"]
				switch engine {
				case "llama_cpp":
					expect[2] = -1
					require.False(t, histogram)
					require.Contains(t, stdout, "The histogram covers 0 of 24 requests.")
					require.NotContains(t, got, "spec_decode_acceptance_length")
				case "mlx_vlm":
					require.False(t, histogram)
					require.Contains(t, got, "spec_decode_acceptance_length")
				default:
					require.True(t, histogram)
				}
				require.Equal(t, expect, totals)
			})
		}
	}
}
