// Package dataset supplies the prompts that a load generator sends: built in, synthetic, from a file, or one given
// text.
package dataset

import (
	"bytes"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Prompt is one text to send.
type Prompt struct {
	// ID names the prompt within its source.
	ID string
	// Category is what kind of task the prompt is, for example "coding"; empty when the source knows none.
	Category string
	Text     string
}

// Formats of a source's prompts.
const (
	FormatBuiltin    = "builtin"
	FormatSynthetic  = "synthetic"
	FormatLiteral    = "literal"
	FormatSpecBench  = "spec_bench"
	FormatSpeedBench = "speed_bench"
	FormatSingleTurn = "single_turn"
)

// Source is an endless supply of prompts. The same source gives the same prompt for the same number, at any time and
// from any goroutine.
type Source struct {
	format  string
	prompts []Prompt
	// synthesize makes the prompt of a number when there is no list of them.
	synthesize func(i int64) Prompt
}

// Prompt returns prompt i, counted from 0. A source with a list of prompts starts again after the last one.
func (s *Source) Prompt(i int64) Prompt {
	if s.synthesize != nil {
		return s.synthesize(i)
	}
	return s.prompts[i%int64(len(s.prompts))]
}

// Len returns how many different prompts there are; 0 when there is no end to them.
func (s *Source) Len() int { return len(s.prompts) }

// Format returns one of the Format constants.
func (s *Source) Format() string { return s.format }

//go:embed builtin.jsonl
var builtin []byte

// Builtin returns a small set of prompts: three for each of eight of SpecBench's categories, which take turns.
func Builtin() *Source {
	prompts, _, err := decode(bytes.NewReader(builtin), "builtin.jsonl")
	if err != nil {
		panic(err) // The file is part of the program.
	}
	return &Source{format: FormatBuiltin, prompts: prompts}
}

// Literal returns a source that has one text only.
func Literal(text string) *Source {
	return &Source{format: FormatLiteral, prompts: []Prompt{{ID: "0", Text: text}}}
}

// charactersPerToken is what a token of English text comes to with most tokenizers. There is none here.
const charactersPerToken = 4

// EstimateTokens returns about how many tokens a text has.
func EstimateTokens(text string) int {
	return (len(text) + charactersPerToken - 1) / charactersPerToken
}

// Synthetic returns a source of English-like texts of about meanTokens tokens each, which differ from each other from
// the first words on. The texts depend on nothing but the seed and their number.
func Synthetic(meanTokens int, seed uint64) *Source {
	return &Source{format: FormatSynthetic, synthesize: func(i int64) Prompt {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		var b strings.Builder
		for size := meanTokens * charactersPerToken; b.Len() < size; {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(Word(r))
		}
		return Prompt{ID: fmt.Sprint(i), Text: b.String()}
	}}
}

// Word returns a common English word.
func Word(r *rand.Rand) string { return words[r.IntN(len(words))] }

var words = strings.Fields(`
the and that have for not with you this but his from they say her she will one all would there their what out about who
get which when make can like time just him know take people into year your good some could them see other than then now
look only come its over think also back after use two how our work first well way even new want because any these give
day most water long little very call house world still between life few north open seem together next white children
begin got walk example ease paper group always music those both mark often letter until mile river car feet care second
book carry took science eat room friend began idea fish mountain stop once base hear horse cut sure watch color face
wood main enough plain girl usual young ready above ever red list though feel talk bird soon body dog family direct
leave song measure door product black short numeral class wind question happen complete ship area half rock order fire
south problem piece told knew pass since top whole king space heard best hour better true during hundred five remember
step early hold west ground interest reach fast verb sing listen six table travel less morning ten simple several vowel
toward war lay against pattern slow center love person money serve appear road map rain rule govern pull cold notice
voice unit power town fine certain fly fall lead cry dark machine note wait plan figure star box noun field rest correct
`)
