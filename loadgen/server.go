package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/specdecode/otel/loadgen/simulator"
)

// stepDelay is how long the simulated engine takes for a step: about what a small model takes, less a factor that
// nobody wants to wait for.
const stepDelay = 200 * time.Microsecond

// startSimulator starts the simulated engine and points the run at it.
func startSimulator(c *config) (stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot start the simulated engine: %w", err)
	}
	if err := c.setURL(l.Addr().String()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: simulator.New(simulator.Config{Engine: c.Engine, Seed: c.Seed, StepDelay: stepDelay})}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		server.Serve(l) // Until the server is closed.
	}()
	return func() {
		server.Close()
		<-stopped
	}, nil
}

// reachTimeout bounds the look whether the server is there.
const reachTimeout = 5 * time.Second

// reach finds out whether anything answers at the server's address.
func reach(ctx context.Context, c *config, t http.RoundTripper) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, join(c.Base, modelsPath).String(), nil)
	if err != nil {
		return err
	}
	c.addHeaders(r)
	resp, err := newClient(t).Do(r)
	if err != nil {
		return fmt.Errorf("cannot reach %s: %s", shown(c.Base), printable(rootCause(err)))
	}
	// The connection is used again when the answer has been read.
	io.CopyN(io.Discard, resp.Body, 1<<20)
	return resp.Body.Close()
}

// rootCause is what a user can do something about, out of the errors that wrap it.
func rootCause(err error) string {
	var errno syscall.Errno
	var dns *net.DNSError
	var parts *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", reachTimeout)
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &dns):
		return dns.Err
	case errors.As(err, &parts):
		return parts.Err.Error()
	}
	return err.Error()
}
