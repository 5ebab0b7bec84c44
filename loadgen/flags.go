package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/specdecode/otel/loadgen/simulator"
)

// flags are the command line. Names are AIPerf's where it has the option.
type flags struct {
	Model                 string   `short:"m" aliases:"model-names" group:"server" placeholder:"NAME" help:"Model that the server serves."`
	URL                   string   `name:"url" short:"u" group:"server" placeholder:"URL" help:"Server, such as localhost:8000 (the default with --model)."`
	EndpointType          string   `enum:"chat,completions" default:"chat" group:"server" help:"API to use: chat or completions."`
	Endpoint              string   `aliases:"custom-endpoint" group:"server" placeholder:"PATH" help:"Path to use in place of /v1/chat/completions or /v1/completions; it must end like it."`
	Streaming             *bool    `negatable:"" group:"server" help:"Ask for streamed answers."`
	APIKey                string   `name:"api-key" group:"server" placeholder:"KEY" help:"Key, sent as \"Authorization: Bearer KEY\"."`
	Header                []string `short:"H" sep:"none" group:"server" placeholder:"NAME:VALUE" help:"Header to send with each request; repeatable."`
	RequestTimeoutSeconds float64  `default:"21600" group:"server" placeholder:"SECONDS" help:"Time that a request may take (default: ${default})."`
	Simulate              *string  `enum:"${engines}" group:"server" placeholder:"ENGINE" help:"Run against the simulated engine that is built in, which speaks as the named one does: ${engines}. This is the default without --model and --url, with vllm."`

	Concurrency        *int     `group:"load" placeholder:"N" help:"Requests in flight at a time (default: 1; 8 against the simulated engine)."`
	RequestCount       *int64   `aliases:"num-requests" group:"load" placeholder:"N" help:"Requests to send; also --num-requests (default: 10, or twice the concurrency if that is more; 200 against the simulated engine)."`
	BenchmarkDuration  *float64 `group:"load" placeholder:"SECONDS" help:"Time after which no more requests are sent; those in flight are finished."`
	WarmupRequestCount int64    `aliases:"num-warmup-requests" group:"load" placeholder:"N" help:"Requests to send first, which are kept out of the report's figures; also --num-warmup-requests."`

	Prompt                   *string  `group:"prompts" placeholder:"TEXT" help:"Send this text."`
	InputFile                string   `group:"prompts" placeholder:"FILE" help:"Send the prompts of a file of JSON lines: SpecBench's question.jsonl, or objects with a \"prompt\" or a \"text\"."`
	SyntheticInputTokensMean *int     `aliases:"isl,prompt-input-tokens-mean" group:"prompts" placeholder:"N" help:"Send random words of about N tokens; also --isl (default: 550; the simulated engine gets prompts that are built in)."`
	OutputTokensMean         *int     `aliases:"osl,prompt-output-tokens-mean" group:"prompts" placeholder:"N" help:"Most tokens that an answer may have; also --osl (default: no limit)."`
	ExtraInputs              []string `sep:"none" group:"prompts" placeholder:"KEY:VALUE" help:"Member to set in each request's body, such as temperature:0; repeatable. A value that is JSON is taken as such."`
	RandomSeed               *uint64  `group:"prompts" placeholder:"N" help:"Seed of random prompts, and of the simulated engine (default: by chance; 0 against the simulated engine)."`

	ExportLevel  string `enum:"summary,records,raw" default:"records" aliases:"profile-export-level" group:"output" help:"Files to write: summary, records or raw. Prompts and answers are in those of raw, and nowhere else."`
	ArtifactDir  string `aliases:"output-artifact-dir" group:"output" placeholder:"DIR" help:"Folder for the files; also --output-artifact-dir (default: a new one in artifacts/)."`
	OTLPEndpoint string `name:"otlp-endpoint" group:"output" placeholder:"URL" help:"Send telemetry to this Collector, by OTLP/gRPC, and leave the report to it (default: $${OTEL_EXPORTER_OTLP_ENDPOINT}, or else a pipeline inside the process)."`

	Version kong.VersionFlag `help:"Show the version."`
}

const description = `Sends requests to an LLM inference server and reports how its speculative decoding did.

Example:
  loadgen --model M --url localhost:8000 --streaming --input-file question.jsonl --concurrency 16`

// parseFlags reads the command line. When it answers the user itself, with help or the version on stdout, it returns
// nil and no error.
func parseFlags(args []string, stdout, stderr io.Writer) (*flags, error) {
	var f flags
	answered := false
	parser, err := kong.New(&f,
		kong.Name("loadgen"),
		kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{NoAppDescFormat: true, WrapUpperBound: 120}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "server", Title: "Server:"},
			{Key: "load", Title: "Load:"},
			{Key: "prompts", Title: "Prompts:"},
			{Key: "output", Title: "Output:"},
		}),
		kong.Vars{"version": "specdecode-loadgen " + version, "engines": strings.Join(simulator.Engines(), ",")},
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { answered = true }),
	)
	if err != nil {
		return nil, fmt.Errorf("the flags are defined wrongly: %w", err)
	}
	_, err = parser.Parse(args)
	if answered {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &f, nil
}
