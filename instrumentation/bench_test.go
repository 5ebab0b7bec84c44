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
	"runtime"
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

// BenchmarkStream sends requests that are answered with a stream of 300 events, in turns with the transport and without
// it. What counts are the ratios of processor time and allocations, client and server together, since neither machine
// nor figures stand still. A paced server sends an event when the one before was read, as an engine that takes its time
// for each step; a flooding one does not wait, and a Read gets several. One client decodes what it gets, as clients do;
// the other only reads.
func BenchmarkStream(b *testing.B) {
	var events []string
	for i := range benchEvents - 3 {
		events = append(events, fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1796127040,"model":"tiny","choices":[{"index":0,"delta":{"content":"word %d"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`, i))
	}
	events = append(events, streamEvents[4:]...)
	for _, server := range []string{"paced", "flooding"} {
		for _, client := range []struct {
			name string
			read func(io.Reader) error
		}{{"decoding", decodeAll}, {"reading", readAll}} {
			b.Run(server+"/"+client.name, func(b *testing.B) { benchStream(b, events, server == "paced", client.read) })
		}
	}
}

// benchTurn is how many requests a turn has.
const benchTurn = 10

func benchStream(b *testing.B, events []string, paced bool, read func(io.Reader) error) {
	// Each Read of the client lets the paced server send one event more.
	reads := make(chan struct{}, 4*len(events))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i, e := range events {
			if paced && i > 0 {
				<-reads
			}
			io.WriteString(w, "data: "+e+"\n\n")
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	base := http.DefaultTransport.(*http.Transport).Clone()
	defer base.CloseIdleConnections()
	var used [2]struct {
		cpu     time.Duration
		mallocs uint64
	}
	transports := [2]http.RoundTripper{base, NewTransport(base, WithTracerProvider(sdktrace.NewTracerProvider()))}
	for b.Loop() {
		for i, transport := range transports {
			c := &http.Client{Transport: transport}
			cpuBefore, mallocsBefore := cpu(b), mallocs()
			for range benchTurn {
				for len(reads) > 0 {
					<-reads
				}
				resp, err := c.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true}`))
				if err != nil {
					b.Fatal(err)
				}
				if err := read(signalling{resp.Body, reads}); err != nil {
					b.Fatal(err)
				}
				resp.Body.Close()
			}
			used[i].cpu += cpu(b) - cpuBefore
			used[i].mallocs += mallocs() - mallocsBefore
		}
	}
	requests := float64(b.N * benchTurn)
	b.ReportMetric(0, "ns/op") // It would be that of a turn of each.
	b.ReportMetric(float64(used[0].cpu)/requests, "cpu-ns/request-without")
	b.ReportMetric(float64(used[1].cpu)/float64(used[0].cpu), "cpu-ratio")
	b.ReportMetric(float64(used[0].mallocs)/requests, "allocs/request-without")
	b.ReportMetric(float64(used[1].mallocs)/float64(used[0].mallocs), "allocs-ratio")
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// signalling tells of each Read that got something.
type signalling struct {
	io.Reader
	reads chan<- struct{}
}

func (s signalling) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if n > 0 {
		select {
		case s.reads <- struct{}{}:
		default: // Nobody waits.
		}
	}
	return n, err
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
