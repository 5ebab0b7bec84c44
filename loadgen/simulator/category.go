package simulator

import (
	"strings"

	"github.com/specdecode/otel/loadgen/dataset"
)

// other is the category of a prompt of which nothing is known.
const other = "other"

// profiles has, for each category, the probability that the first token of a draft is accepted. The figures are made
// up; their order is what is usually found: text that repeats itself or its prompt is drafted well.
var profiles = map[string]float64{
	"coding":     0.84,
	"math":       0.78,
	"extraction": 0.74,
	"reasoning":  0.68,
	"stem":       0.62,
	"humanities": 0.56,
	"writing":    0.50,
	"roleplay":   0.44,
	other:        0.60,
}

// rules find the category of an unknown prompt by words in it, in lower case; the first rule that matches counts.
var rules = []struct {
	category string
	words    []string
}{
	{"coding", []string{"```", "python", "javascript", "function", "sql query", "source code", "compile"}},
	{"extraction", []string{"extract", "as a table", "as json", "list all"}},
	{"math", []string{"calculate", "equation", "probability", "how many", "solve for", "integer"}},
	{"roleplay", []string{"you are ", "pretend", "imagine you", "act as"}},
	{"writing", []string{"write a", "draft a", "essay", "poem", "story"}},
	{"reasoning", []string{"conclude", "puzzle", "step by step", "riddle"}},
	{"stem", []string{"physics", "chemistry", "biology", "molecule", "energy"}},
	{"humanities", []string{"history", "philosoph", "century", "culture"}},
}

// builtinCategories has the categories of the built-in prompts by their texts.
func builtinCategories() map[string]string {
	prompts := dataset.Builtin()
	categories := make(map[string]string, prompts.Len())
	for i := range prompts.Len() {
		p := prompts.Prompt(int64(i))
		categories[p.Text] = p.Category
	}
	return categories
}

// category returns the category of a prompt.
func (s *Server) category(prompt string) string {
	if c, ok := s.builtin[prompt]; ok {
		return c
	}
	lower := strings.ToLower(prompt)
	for _, r := range rules {
		for _, w := range r.words {
			if strings.Contains(lower, w) {
				return r.category
			}
		}
	}
	return other
}
