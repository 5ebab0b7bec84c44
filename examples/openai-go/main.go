// Command openai-go shows the official OpenAI client with the transport of package instrumentation: one line more, and
// each request's span has what its speculative decoding did. It asks a server three ways (whole, streamed, with a
// tool), under one span of its own, so that the requests are parts of one trace.
//
//	go run ./examples/openai-go --url http://localhost:8000 --model M
//
// Spans go to OTEL_EXPORTER_OTLP_ENDPOINT when it is set; what the transport found is printed in any case.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/specdecode/otel/instrumentation"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("openai-go", flag.ContinueOnError)
	flags.SetOutput(stderr)
	url := flags.String("url", "http://localhost:8000", "the server")
	model := flags.String("model", "M", "the model that it serves")
	if flags.Parse(args) != nil {
		return 2
	}
	var opts []sdktrace.TracerProviderOption
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" {
		exporter, err := otlptracegrpc.New(ctx)
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		opts = append(opts, sdktrace.WithBatcher(exporter))
	}
	tracers := sdktrace.NewTracerProvider(opts...)
	err := errors.Join(ask(ctx, tracers, http.DefaultTransport, *url, *model, stdout), tracers.Shutdown(ctx))
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

const question = "Write a Python function that merges overlapping intervals given as a list of pairs."

// ask asks the server three ways, under one span.
func ask(ctx context.Context, tracers trace.TracerProvider, base http.RoundTripper, url, model string, out io.Writer) error {
	client := openai.NewClient(
		option.WithBaseURL(url+"/v1"),
		option.WithAPIKey("none"),
		option.WithHTTPClient(&http.Client{Transport: instrumentation.NewTransport(base,
			instrumentation.WithTracerProvider(tracers),
			instrumentation.WithPropagators(propagation.TraceContext{}),
			// Streams carry stats with their usage: ask for it.
			instrumentation.WithRequestStats(),
		)}),
	)
	ctx, span := tracers.Tracer("openai-go").Start(ctx, "three questions")
	defer span.End()
	ctx = instrumentation.ContextWithCall(ctx, &instrumentation.Call{Done: func(r instrumentation.Result) {
		fmt.Fprintf(out, "%s", r.Outcome)
		if r.Record != nil {
			if length, ok := r.Record.Triple().Length(); ok {
				fmt.Fprintf(out, ", %.2f tokens per verify step", length)
			}
		}
		fmt.Fprintln(out)
	}})

	params := openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}}
	if _, err := client.Chat.Completions.New(ctx, params); err != nil {
		return fmt.Errorf("whole: %w", err)
	}

	stream := client.Chat.Completions.NewStreaming(ctx, params)
	for stream.Next() {
	}
	if err := errors.Join(stream.Err(), stream.Close()); err != nil {
		return fmt.Errorf("streamed: %w", err)
	}

	params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name:       "run",
		Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"code": map[string]any{"type": "string"}}},
	})}
	answer, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return fmt.Errorf("with a tool: %w", err)
	}
	for _, choice := range answer.Choices {
		for _, call := range choice.Message.ToolCalls {
			fmt.Fprintf(out, "call of %s with %d bytes of arguments\n", call.Function.Name, len(call.Function.Arguments))
		}
	}
	return nil
}
