package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/specdecode/otel/loadgen/dataset"
	"github.com/specdecode/otel/semconv"
)

// Endpoint types, as AIPerf names them.
const (
	endpointChat        = "chat"
	endpointCompletions = "completions"
)

// Levels of files to write.
const (
	levelSummary = "summary"
	levelRaw     = "raw"
)

// What a run against the simulated engine is like unless flags say otherwise.
const (
	simulatedModel       = "simulated"
	simulatedRequests    = 200
	simulatedConcurrency = 8
)

// defaultInputTokens and minRequests are AIPerf's defaults.
const (
	defaultInputTokens = 550
	minRequests        = 10
)

// Bounds of what flags may ask for.
const (
	maxConcurrency = 100_000
	maxInputTokens = 2_000_000
	maxSeconds     = 1e9
)

// config is a run's configuration, complete and checked.
type config struct {
	// Simulated is set when the run is against the engine that is built in; its address is set with setURL.
	Simulated bool
	// Engine is the one that is simulated.
	Engine string
	Model  string
	// EndpointType is endpointChat or endpointCompletions.
	EndpointType string
	Streaming    bool
	// Base is the server's address, Target the one that requests go to.
	Base, Target *url.URL
	endpoint     string
	APIKey       string
	Header       http.Header
	// Timeout bounds one request.
	Timeout time.Duration

	Concurrency int
	// Requests and Duration end the run, whichever is reached first; 0 when it is the other one that does.
	Requests int64
	Duration time.Duration
	// Warmup is the number of requests before.
	Warmup int64

	// Prompts are those of the run, WarmupPrompts those of the warm-up.
	Prompts, WarmupPrompts *dataset.Source
	inputFile              string
	inputTokens            int
	// OutputTokens bounds an answer; 0 for no bound.
	OutputTokens int
	// Extra are members of a request's body that go before ours.
	Extra map[string]any
	Seed  uint64

	ExportLevel string
	// ArtifactDir is where files go. It is the run's own when the user did not name it.
	ArtifactDir string
	ownDir      bool
	// OTLPEndpoint is the flag as it is; the environment can name an endpoint, too.
	OTLPEndpoint string
}

// newConfig completes and checks the flags. Its errors name the flag.
func newConfig(f *flags, now time.Time) (*config, error) {
	c := &config{
		Simulated:    f.Simulate != nil || f.Model == "" && f.URL == "",
		Model:        f.Model,
		EndpointType: f.EndpointType,
		APIKey:       f.APIKey,
		Warmup:       f.WarmupRequestCount,
		ExportLevel:  f.ExportLevel,
		OTLPEndpoint: f.OTLPEndpoint,
	}
	for _, set := range []func(*flags) error{c.setServer, c.setLoad, c.setPrompts, c.setHeader, c.setExtra} {
		if err := set(f); err != nil {
			return nil, err
		}
	}
	if c.Engine = semconv.EngineVLLM; f.Simulate != nil {
		c.Engine = *f.Simulate
	}
	c.ArtifactDir = f.ArtifactDir
	if c.ownDir = f.ArtifactDir == ""; c.ownDir {
		c.ArtifactDir = defaultDir(c, now)
	}
	return c, nil
}

func (c *config) setServer(f *flags) (err error) {
	switch {
	case f.Simulate != nil && f.URL != "":
		return errors.New("--simulate: not together with --url")
	case c.Simulated && c.Model == "":
		c.Model = simulatedModel
	case c.Model == "":
		return errors.New("--model: name the model that the server at --url serves")
	}
	if c.endpoint, err = endpointPath(f.EndpointType, f.Endpoint); err != nil {
		return fmt.Errorf("--endpoint: %w", err)
	}
	if !c.Simulated {
		if err := c.setURL(f.URL); err != nil {
			return fmt.Errorf("--url: %w", err)
		}
	} else if f.Endpoint != "" {
		return errors.New("--endpoint: the simulated engine has no other paths")
	}
	c.Streaming = c.Simulated
	if f.Streaming != nil {
		c.Streaming = *f.Streaming
	}
	if c.Timeout, err = seconds(f.RequestTimeoutSeconds); err != nil {
		return fmt.Errorf("--request-timeout-seconds: %w", err)
	}
	return nil
}

func (c *config) setLoad(f *flags) (err error) {
	c.Concurrency = 1
	if c.Simulated {
		c.Concurrency = simulatedConcurrency
	}
	if f.Concurrency != nil {
		c.Concurrency = *f.Concurrency
	}
	if c.Concurrency < 1 || c.Concurrency > maxConcurrency {
		return fmt.Errorf("--concurrency: must be 1 to %d, not %d", maxConcurrency, c.Concurrency)
	}
	if f.BenchmarkDuration != nil {
		if c.Duration, err = seconds(*f.BenchmarkDuration); err != nil {
			return fmt.Errorf("--benchmark-duration: %w", err)
		}
	}
	switch {
	case f.RequestCount != nil && *f.RequestCount < 1:
		return fmt.Errorf("--request-count: must be at least 1, not %d", *f.RequestCount)
	case f.RequestCount != nil:
		c.Requests = *f.RequestCount
	case f.BenchmarkDuration != nil:
	case c.Simulated:
		c.Requests = simulatedRequests
	default:
		c.Requests = int64(max(minRequests, 2*c.Concurrency))
	}
	if c.Warmup < 0 {
		return fmt.Errorf("--warmup-request-count: must not be negative, but is %d", c.Warmup)
	}
	return nil
}

func (c *config) setPrompts(f *flags) error {
	switch {
	case f.Prompt != nil && f.InputFile != "":
		return errors.New("--prompt: not together with --input-file")
	case f.SyntheticInputTokensMean != nil && (f.Prompt != nil || f.InputFile != ""):
		return errors.New("--synthetic-input-tokens-mean: not together with --prompt or --input-file")
	}
	if f.OutputTokensMean != nil {
		if c.OutputTokens = *f.OutputTokensMean; c.OutputTokens < 1 {
			return fmt.Errorf("--output-tokens-mean: must be at least 1, not %d", c.OutputTokens)
		}
	}
	switch {
	case f.RandomSeed != nil:
		c.Seed = *f.RandomSeed
	case !c.Simulated:
		// Other prompts in each run: a server may still have the last run's in its prefix cache.
		c.Seed = rand.Uint64()
	}
	switch {
	case f.Prompt != nil:
		if strings.TrimSpace(*f.Prompt) == "" {
			return errors.New("--prompt: the text is empty")
		}
		c.Prompts = dataset.Literal(*f.Prompt)
	case f.InputFile != "":
		prompts, err := dataset.File(f.InputFile)
		if err != nil {
			return fmt.Errorf("--input-file: %w", err)
		}
		c.Prompts, c.inputFile = prompts, f.InputFile
	case c.Simulated && f.SyntheticInputTokensMean == nil:
		c.Prompts = dataset.Builtin()
	default:
		c.inputTokens = defaultInputTokens
		if f.SyntheticInputTokensMean != nil {
			c.inputTokens = *f.SyntheticInputTokensMean
		}
		if c.inputTokens < 1 || c.inputTokens > maxInputTokens {
			return fmt.Errorf("--synthetic-input-tokens-mean: must be 1 to %d, not %d", maxInputTokens, c.inputTokens)
		}
		c.Prompts = dataset.Synthetic(c.inputTokens, c.Seed)
		// Prompts of the warm-up must not lie in the server's prefix cache when the run sends its own.
		c.WarmupPrompts = dataset.Synthetic(c.inputTokens, c.Seed+1)
		return nil
	}
	c.WarmupPrompts = c.Prompts
	return nil
}

func (c *config) setHeader(f *flags) error {
	c.Header = http.Header{}
	for _, h := range f.Header {
		name, value, ok := strings.Cut(h, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		// What can be a key is not in the message.
		if !ok {
			return errors.New("--header: there is no colon; the form is NAME:VALUE")
		}
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("--header: %q is no name of a header", name)
		}
		if !httpguts.ValidHeaderFieldValue(value) {
			return fmt.Errorf("--header: the value of %s has characters that no header can have", name)
		}
		c.Header.Add(name, value)
	}
	if !httpguts.ValidHeaderFieldValue(c.APIKey) {
		return errors.New("--api-key: the key has characters that no header can have")
	}
	return nil
}

func (c *config) setExtra(f *flags) error {
	c.Extra = map[string]any{}
	for _, e := range f.ExtraInputs {
		if all, ok := parseJSON(e); ok {
			members, ok := all.(map[string]any)
			if !ok {
				return fmt.Errorf("--extra-inputs: %q is not of the form KEY:VALUE", e)
			}
			for k, v := range members {
				c.Extra[k] = v
			}
			continue
		}
		key, text, ok := strings.Cut(e, ":")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return fmt.Errorf("--extra-inputs: %q is not of the form KEY:VALUE", e)
		}
		var value any = text
		if v, ok := parseJSON(text); ok {
			value = v
		}
		c.Extra[key] = value
	}
	if stream, ok := c.Extra["stream"].(bool); ok {
		c.Streaming = stream
	}
	return nil
}

// parseJSON reads one JSON text. Numbers stay as they are written.
func parseJSON(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
}

// seconds converts a flag.
func seconds(v float64) (time.Duration, error) {
	if !(v > 0 && v <= maxSeconds) {
		return 0, fmt.Errorf("must be above 0 and at most %g seconds, not %g", float64(maxSeconds), v)
	}
	return time.Duration(v * float64(time.Second)), nil
}
