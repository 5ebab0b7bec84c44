package collectorexporter

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// FuzzTraces feeds arbitrary OTLP to everything but the disk: nothing panics, and every report can be written.
func FuzzTraces(f *testing.F) {
	marshal := func(td ptrace.Traces) []byte {
		b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	t := &testing.T{}
	f.Add(marshal(spans(t, "w", 0, worked1(), worked2(), runSpan(2))))
	f.Add(marshal(spans(t, "../w", 0, with(worked1(), kv{"spec_decode.steps": -1, "spec_decode.step.draft_tokens": []any{1}}))))
	f.Fuzz(func(t *testing.T, b []byte) {
		td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(b)
		if err != nil {
			return
		}
		r := memoryRun()
		for _, rs := range td.ResourceSpans().All() {
			res, _ := decodeResource(rs.Resource())
			folderName(res.runID)
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if o, err := decodeRequest(res, span); err == nil {
						require.NoError(t, r.add(o))
						_, err := json.Marshal(newRecordLine(o, 0))
						require.NoError(t, err)
					}
					if n, err := decodeRun(res, span); err == nil {
						r.announce(n)
					}
				}
			}
		}
		s := newSummary(r)
		require.NoError(t, writeJSON(io.Discard, s))
		require.NoError(t, writeCSV(io.Discard, s))
		require.NoError(t, writeConsole(io.Discard, s, ""))
	})
}

// FuzzRaw feeds arbitrary bodies of raw records.
func FuzzRaw(f *testing.F) {
	f.Add(`{"status":200,"responses":[]}`)
	f.Add(`{"status":"200","error":{}}`)
	f.Fuzz(func(t *testing.T, body string) {
		record := plog.NewLogRecord()
		record.SetTraceID(pcommon.TraceID{1})
		record.SetSpanID(pcommon.SpanID{1})
		record.Body().SetStr(body)
		line, err := decodeRaw(resource{}, record)
		if err != nil {
			return
		}
		_, err = json.Marshal(line)
		require.NoError(t, err)
	})
}
