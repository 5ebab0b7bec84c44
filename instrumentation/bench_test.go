//go:build unix

package instrumentation

import (
	"bufio"
	"bytes"
	"encoding/json"
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
// run: what counts is the ratio. The processor time is that of client and server. One client decodes what it gets, as
// clients do; the other only reads.
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
	transports := []struct {
		name string
		http.RoundTripper
	}{
		{"without", base},
		{"with", NewTransport(base, WithTracerProvider(sdktrace.NewTracerProvider()))},
	}
	for _, client := range []struct {
		name string
		read func(io.Reader) error
	}{{"decoding", decodeAll}, {"reading", readAll}} {
		for _, transport := range transports {
			b.Run(client.name+"/"+transport.name, func(b *testing.B) {
				c := &http.Client{Transport: transport}
				b.ReportAllocs()
				before := cpu(b)
				for b.Loop() {
					resp, err := c.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true}`))
					if err != nil {
						b.Fatal(err)
					}
					if err := client.read(resp.Body); err != nil {
						b.Fatal(err)
					}
					resp.Body.Close()
				}
				b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// decodeAll is what a client does that uses the answer: it decodes each chunk.
func decodeAll(r io.Reader) error {
	s := bufio.NewScanner(r)
	for s.Scan() {
		data, ok := bytes.CutPrefix(s.Bytes(), []byte("data: "))
		if !ok || data[0] == '[' {
			continue
		}
		var chunk struct {
			ID      string
			Choices []struct {
				Delta        struct{ Content string }
				FinishReason *string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(data, &chunk); err != nil {
			return err
		}
	}
	return s.Err()
}

// readAll is the least that a client can do.
func readAll(r io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		if _, err := r.Read(buf); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
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
