package collectorexporter

import "github.com/specdecode/otel/semconv/acceptance"

const nsPerMs = 1e6

func ms(i acceptance.Int) (float64, bool) {
	n, ok := i.Get()
	return float64(n) / nsPerMs, ok
}

// latency is from the start of the request to its last chunk with content, in ms.
func (o *observation) latency() (float64, bool) { return ms(o.lastChunk) }

// timeToFirst is from the start of the request to the first chunk with content, in ms; streams only.
func (o *observation) timeToFirst() (float64, bool) {
	if !o.streamed {
		return 0, false
	}
	return ms(o.firstChunk)
}

// timeToSecond is from the first to the second chunk with content, in ms.
func (o *observation) timeToSecond() (float64, bool) {
	first, ok1 := o.firstChunk.Get()
	second, ok2 := o.secondChunk.Get()
	return float64(second-first) / nsPerMs, ok1 && ok2 && o.streamed
}

// interToken spreads the time after the first chunk over the tokens after the first, in ms. Tokens are the server's
// count: with speculation a chunk holds several.
func (o *observation) interToken() (float64, bool) {
	first, ok1 := o.firstChunk.Get()
	last, ok2 := o.lastChunk.Get()
	tokens, ok3 := o.outputTokens.Get()
	if !ok1 || !ok2 || !ok3 || tokens < 2 || !o.streamed {
		return 0, false
	}
	return float64(last-first) / nsPerMs / float64(tokens-1), true
}

// tokensPerSecond is the speed that one user sees, after the first token.
func (o *observation) tokensPerSecond() (float64, bool) {
	itl, ok := o.interToken()
	return 1000 / itl, ok && itl > 0
}

// gaps are the times between chunks with content, in ms.
func (o *observation) gaps() []float64 {
	var gaps []float64
	for _, ns := range o.chunkGaps {
		gaps = append(gaps, float64(ns)/nsPerMs)
	}
	return gaps
}
