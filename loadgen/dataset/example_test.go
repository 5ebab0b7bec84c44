package dataset_test

import (
	"fmt"

	"github.com/specdecode/otel/loadgen/dataset"
)

func ExampleBuiltin() {
	prompts := dataset.Builtin()
	p := prompts.Prompt(3)
	fmt.Println(prompts.Len(), p.ID, p.Category, p == prompts.Prompt(3+24))
	// Output: 24 math-1 math true
}

func ExampleSynthetic() {
	prompts := dataset.Synthetic(6, 1)
	fmt.Println(dataset.EstimateTokens(prompts.Prompt(0).Text) >= 6, prompts.Prompt(0) == prompts.Prompt(1))
	// Output: true false
}
