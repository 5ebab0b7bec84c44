// Command loadgen sends requests to an OpenAI-compatible inference server, with AIPerf's options, and reports how its
// speculative decoding did. Without options it runs against a simulated engine.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// version is that of the program.
const version = "0.1.0"

func main() {
	// One signal stops the run, a second one the program: neither may be dropped.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(context.Background(), os.Args[1:], dependencies{
		stdout:       os.Stdout,
		stderr:       os.Stderr,
		terminal:     term.IsTerminal(int(os.Stderr.Fd())),
		signals:      signals,
		now:          time.Now,
		newTelemetry: newTelemetry,
	}))
}
