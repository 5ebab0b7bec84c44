package instrumentation

import "io"

// body is a response's body that is watched. Bytes and errors are the inner body's, in the same Reads.
type body struct {
	io.ReadCloser
	exchange *exchange
}

// Read takes the time once, before the bytes are looked at.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	at := b.exchange.elapsed()
	if n > 0 {
		b.exchange.read(p[:n], at)
	}
	if err != nil {
		b.exchange.end(err, at)
	}
	return n, err
}

// Close may be called while Read waits, which then gets an error that is the caller's own doing.
func (b *body) Close() error {
	b.exchange.closing.Store(true)
	err := b.ReadCloser.Close()
	b.exchange.end(errClosed, b.exchange.elapsed())
	return err
}
