package main

import (
	"fmt"
	"io"
	"time"
)

// Times between lines of progress: on a terminal the line is written anew, elsewhere lines add up.
const (
	terminalInterval = 200 * time.Millisecond
	plainInterval    = 5 * time.Second
)

// progress shows how far a phase is.
type progress struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
}

// ticker returns when to show something.
func (p *progress) ticker() *time.Ticker {
	if p.terminal {
		return time.NewTicker(terminalInterval)
	}
	return time.NewTicker(plainInterval)
}

// follow shows a phase at each tick, and once more when it is done.
func (p *progress) follow(ph phase, t *tally, ticks <-chan time.Time, done <-chan struct{}) {
	started := p.now()
	for {
		select {
		case <-ticks:
			p.show(ph, t.snapshot(), p.now().Sub(started), false)
		case <-done:
			p.show(ph, t.snapshot(), p.now().Sub(started), true)
			return
		}
	}
}

func (p *progress) show(ph phase, c counts, elapsed time.Duration, last bool) {
	line := progressLine(ph, c, elapsed)
	if p.terminal {
		// The start of the line, and erase what is behind the new text.
		line = "\r" + line + "\x1b[K"
	}
	if !p.terminal || last {
		line += "\n"
	}
	io.WriteString(p.w, line)
}

// progressLine says how far a phase is.
func progressLine(ph phase, c counts, elapsed time.Duration) string {
	line := fmt.Sprintf("%s: %d", ph.name, c.finished())
	if ph.requests > 0 {
		line += fmt.Sprintf(" of %d", ph.requests)
	}
	line += " requests"
	if ph.duration > 0 {
		line += fmt.Sprintf(", %.0f of %.0f s", elapsed.Seconds(), ph.duration.Seconds())
	}
	if elapsed > 0 {
		line += fmt.Sprintf(", %.1f/s", float64(c.finished())/elapsed.Seconds())
	}
	line += fmt.Sprintf(", %d failed", c.Failed)
	if length, ok := c.acceptanceLength(); ok {
		line += fmt.Sprintf(", acceptance length %.2f", length)
	}
	return line
}
