package collectorexporter

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

func TestRawRecords(t *testing.T) {
	r := start(t, func(c *Config) { c.Level, c.RunFolders = LevelRaw, false })
	announce := runSpan(1)
	announce["spec_decode.run.raw_records"] = 1
	r.push(t, spans(t, "w", 0, worked1(), announce))
	require.NoFileExists(t, filepath.Join(r.dir, "profile_export_aiperf.json"))

	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("spec_decode.run.id", "w")
	for _, body := range []string{`{"status":`, `{"status":200,"payload":{"model":"m"},"responses":[{"perf_ns":5,"text":"a"}],"request_headers":{"A":"b"},"start_perf_ns":3}`} {
		record := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		record.SetEventName("spec_decode.raw")
		record.SetTraceID(pcommon.TraceID{1})
		record.SetSpanID(pcommon.SpanID{7: 1})
		record.SetTimestamp(1_000)
		record.SetObservedTimestamp(9_000)
		require.NoError(t, record.Attributes().FromRaw(kv{"spec_decode.request.index": 4, "spec_decode.response.headers": 500}))
		record.Body().SetStr(body)
	}
	require.NoError(t, r.logs.ConsumeLogs(context.Background(), ld))
	require.FileExists(t, filepath.Join(r.dir, "profile_export_aiperf.json"))
	require.JSONEq(t, `{"metadata":{"session_num":4,"turn_index":0,"credit_issued_ns":1000,"request_start_ns":1000,"request_ack_ns":1500,"request_end_ns":9000,
		"worker_id":"","record_processor_id":"spec_decode","benchmark_phase":"profiling","phase_kind":"profiling","phase_index":0,"was_cancelled":false,
		"trace_id":"01000000000000000000000000000000","span_id":"0000000000000001"},
		"start_perf_ns":3,"request_headers":{"A":"b"},"payload":{"model":"m"},"status":200,"responses":[{"perf_ns":5,"text":"a"}]}`, r.file(t, "profile_export_raw.jsonl"))
	require.Len(t, r.logged.FilterMessage("skipped malformed telemetry").All(), 1)
	r.stop(t)
}
