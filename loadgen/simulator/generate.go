package simulator

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strings"

	"github.com/specdecode/otel/loadgen/dataset"
)

// Reasons for an answer's end, as the API names them.
const (
	finishStop   = "stop"
	finishLength = "length"
	finishTools  = "tool_calls"
)

// An answer has minLength to maxLength tokens unless the request allows fewer. The last one is the end-of-text token,
// which has no text.
const (
	minLength = 32
	maxLength = 256
)

// acceptanceDecay is what the probability of being accepted is multiplied with from one position of a draft to the
// next, given that the one before was accepted.
const acceptanceDecay = 0.9

// spread is how far a request's acceptance probability can be from its category's, up or down.
const spread = 0.1

// Shares of the steps that draft nothing, and that draft less than they could.
const (
	noDraft    = 0.05
	shortDraft = 0.15
)

// answer is everything that was generated for a request.
type answer struct {
	choices []choice
	// promptTokens is an estimate: there is no tokenizer.
	promptTokens int
}

// choice is one answer text.
type choice struct {
	// steps are the passes of the model, of which the first one is the prefill.
	steps []step
	// tokens is the number of tokens of the text, the end-of-text token included.
	tokens int
	finish string
}

func (c *choice) text() string {
	var all strings.Builder
	for _, s := range c.steps {
		all.WriteString(s.text)
	}
	return all.String()
}

// step is one pass of the model.
type step struct {
	// drafted and accepted are numbers of draft tokens; a step without a draft has none of either.
	drafted, accepted int
	// text is what the step adds to the answer: the accepted tokens and one more, less what is past the end.
	text string
}

// generate answers a request.
func (s *Server) generate(r *request) *answer {
	a := &answer{}
	for p, prompt := range r.prompts() {
		a.promptTokens += dataset.EstimateTokens(prompt)
		for i := range r.choices() {
			random := rand.New(rand.NewPCG(s.source(prompt, r.Seed, p*r.choices()+i)))
			c := generateChoice(random, profiles[s.category(prompt)], s.config.MaxDraft, r.maxTokens())
			if r.callsTool() && c.finish == finishStop {
				c.finish = finishTools
			}
			a.choices = append(a.choices, c)
		}
	}
	return a
}

// source derives the state of a choice's random numbers.
func (s *Server) source(prompt string, requestSeed *int64, index int) (uint64, uint64) {
	h := sha256.New()
	numbers := []uint64{s.config.Seed, uint64(index)}
	if requestSeed != nil {
		numbers = append(numbers, uint64(*requestSeed))
	}
	for _, n := range numbers {
		h.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	h.Write([]byte(prompt))
	sum := h.Sum(nil)
	return binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])
}

// generateChoice draws an answer of at most maxTokens tokens, or of its natural length when maxTokens is 0. A limit
// changes nothing of what comes before it.
func generateChoice(r *rand.Rand, probability float64, maxDraft, maxTokens int) choice {
	probability += spread * (2*r.Float64() - 1)
	length := minLength + r.IntN(maxLength-minLength+1)
	c := choice{finish: finishStop}
	textLength := length - 1
	if maxTokens > 0 && maxTokens < length {
		length, textLength = maxTokens, maxTokens
		c.finish = finishLength
	}
	emit := func(drafted, accepted int) {
		var text strings.Builder
		for range accepted + 1 {
			word := dataset.Word(r)
			if c.tokens == length {
				continue
			}
			if c.tokens < textLength {
				if c.tokens > 0 {
					text.WriteByte(' ')
				}
				text.WriteString(word)
			}
			c.tokens++
		}
		c.steps = append(c.steps, step{drafted: drafted, accepted: accepted, text: text.String()})
	}
	for emit(0, 0); c.tokens < length; {
		drafted := draftLength(r, maxDraft)
		accepted := 0
		for p := probability; accepted < drafted && r.Float64() < p; p *= acceptanceDecay {
			accepted++
		}
		emit(drafted, accepted)
	}
	return c
}

// draftLength draws how many tokens a step drafts.
func draftLength(r *rand.Rand, maxDraft int) int {
	switch x := r.Float64(); {
	case x < noDraft:
		return 0
	case x < noDraft+shortDraft:
		return 1 + r.IntN(maxDraft)
	default:
		return maxDraft
	}
}
