package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scriptLine is one scripted answer: a body, or the events of a stream when the request asks for one.
type scriptLine struct {
	Status int
	Body   json.RawMessage
	Events []json.RawMessage
}

// scripted serves the answers of a script in order, from the start again after the last.
func scripted(t *testing.T, path string) *httptest.Server {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var script []scriptLine
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var line scriptLine
		require.NoError(t, json.Unmarshal(s.Bytes(), &line))
		script = append(script, line)
	}
	require.NoError(t, s.Err())

	var next atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/completions") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		var request struct{ Stream bool }
		body, _ := io.ReadAll(r.Body)
		if json.Unmarshal(body, &request) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		line := script[int(next.Add(1)-1)%len(script)]
		if line.Status != http.StatusOK || !request.Stream {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(line.Status)
			w.Write(line.Body)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, e := range line.Events {
			// An event is a JSON object, or the text [DONE].
			text := string(e)
			if err := json.Unmarshal(e, &text); err != nil {
				text = string(e)
			}
			io.WriteString(w, "data: "+text+"\n\n")
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// runLoadgen runs the program in this process.
func runLoadgen(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	var out, errs bytes.Buffer
	status = run(context.Background(), args, dependencies{
		stdout: &out, stderr: &errs, signals: make(chan os.Signal), now: time.Now, newTelemetry: newTelemetry,
	})
	return status, out.String(), errs.String()
}
