//go:build unix

package instrumentation

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const benchEvents = 300

// cpu is the processor time that this process has taken.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStream sends requests that are answered with a stream of 300 events, with the transport and without, in one
// run: what counts is the ratio. The processor time is that of client and server.
func BenchmarkStream(b *testing.B) {
	var events []string
	for i := range benchEvents - 3 {
		events = append(events, fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1796127040,"model":"tiny","choices":[{"index":0,"delta":{"content":"word %d"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`, i))
	}
	events = append(events, streamEvents[4:]...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { stream(w, events...) }))
	defer server.Close()
	base := http.DefaultTransport.(*http.Transport).Clone()
	defer base.CloseIdleConnections()
	for name, transport := range map[string]http.RoundTripper{
		"without": base,
		"with":    NewTransport(base, WithTracerProvider(sdktrace.NewTracerProvider())),
	} {
		b.Run(name, func(b *testing.B) {
			client := &http.Client{Transport: transport}
			buf := make([]byte, 32<<10)
			b.ReportAllocs()
			before := cpu(b)
			for b.Loop() {
				resp, err := client.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true}`))
				if err != nil {
					b.Fatal(err)
				}
				for {
					if _, err := resp.Body.Read(buf); err == io.EOF {
						break
					}
				}
				resp.Body.Close()
			}
			b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkEvent is the cost of one ordinary event of a stream.
func BenchmarkEvent(b *testing.B) {
	a := answer{streamed: true, events: events{max: DefaultMaxBody}, max: DefaultMaxBody}
	event := []byte("data: " + streamEvents[1] + "\n\n")
	a.write(event, 1)
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		a.write(event, 1)
	}
}
