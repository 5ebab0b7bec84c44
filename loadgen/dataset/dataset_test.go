package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuiltin(t *testing.T) {
	s := Builtin()
	require.Equal(t, 24, s.Len())
	require.Equal(t, FormatBuiltin, s.Format())
	categories := map[string]int{}
	texts := map[string]bool{}
	for i := range int64(24) {
		p := s.Prompt(i)
		categories[p.Category]++
		texts[p.Text] = true
		require.True(t, strings.HasPrefix(p.ID, p.Category+"-"), p.ID)
		require.Equal(t, p, s.Prompt(i+24), "the set starts again")
	}
	require.Len(t, texts, 24)
	require.Equal(t, map[string]int{"writing": 3, "roleplay": 3, "reasoning": 3, "math": 3, "coding": 3, "extraction": 3, "stem": 3, "humanities": 3}, categories)
}

func TestLiteral(t *testing.T) {
	s := Literal("hello")
	require.Equal(t, "hello", s.Prompt(0).Text)
	require.Equal(t, s.Prompt(0), s.Prompt(7))
}

func TestSynthetic(t *testing.T) {
	for _, mean := range []int{1, 32, 550} {
		s := Synthetic(mean, 1)
		seen := map[string]bool{}
		for i := range int64(50) {
			text := s.Prompt(i).Text
			require.GreaterOrEqual(t, len(text), 4*mean)
			// A word of the list has at most eight characters and comes with a blank.
			require.Less(t, len(text), 4*mean+9)
			require.Equal(t, text, Synthetic(mean, 1).Prompt(i).Text, "the same seed gives the same text")
			seen[text] = true
		}
		if mean > 1 {
			require.Len(t, seen, 50)
			require.NotEqual(t, s.Prompt(0), Synthetic(mean, 2).Prompt(0))
		}
	}
	require.Zero(t, Synthetic(9, 1).Len())
}

func TestEstimateTokens(t *testing.T) {
	require.Equal(t, 0, EstimateTokens(""))
	require.Equal(t, 1, EstimateTokens("abcd"))
	require.Equal(t, 2, EstimateTokens("abcde"))
}

func TestFile(t *testing.T) {
	tests := []struct {
		name, content string
		format        string
		want          []Prompt
	}{
		{"spec bench", `{"question_id": 81, "category": "writing", "turns": ["one", "two"], "reference": []}` + "\n\n" +
			`{"question_id": "x9", "category": "math", "turns": ["three"]}`, FormatSpecBench,
			[]Prompt{{"81", "writing", "one"}, {"x9", "math", "three"}}},
		{"speed bench", `{"question_id":"ab","category":"qa","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"user","content":"v"}]}`,
			FormatSpeedBench, []Prompt{{"ab", "qa", "u"}}},
		{"plain", "\xEF\xBB\xBF{\"prompt\": \"p\"}\r\n{\"text\": \"t\", \"question_id\": null}\r\n", FormatSingleTurn,
			[]Prompt{{"1", "", "p"}, {"2", "", "t"}}},
		{"a long line", `{"text": "` + strings.Repeat("x", 1<<20) + `"}`, FormatSingleTurn, []Prompt{{"1", "", strings.Repeat("x", 1<<20)}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "prompts.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(tt.content), 0o600))
			s, err := File(path)
			require.NoError(t, err)
			require.Equal(t, tt.format, s.Format())
			require.Equal(t, len(tt.want), s.Len())
			for i, want := range tt.want {
				require.Equal(t, want, s.Prompt(int64(i)))
			}
		})
	}
}

func TestFileErrors(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"empty", "", "prompts.jsonl: no prompts in the file"},
		{"blank lines", "\n \n", "prompts.jsonl: no prompts in the file"},
		{"not JSON", "{\"prompt\": \"p\"}\nhello\n", "prompts.jsonl:2: not a prompt in JSON: "},
		{"not an object", "\"prompt\"", "prompts.jsonl:1: not a prompt in JSON: "},
		{"turns of another type", `{"turns": [{"a": 1}]}`, "prompts.jsonl:1: not a prompt in JSON: "},
		{"no turns", `{"turns": []}`, "prompts.jsonl:1: the prompt is empty"},
		{"no user turn", `{"messages": [{"role": "system", "content": "s"}]}`, "prompts.jsonl:1: the prompt is empty"},
		{"an empty prompt", `{"prompt": " "}`, "prompts.jsonl:1: the prompt is empty"},
		{"another object", `{"question": "q"}`, `prompts.jsonl:1: no "turns", "messages", "prompt" or "text" in the object`},
		{"unprepared", `{"messages": [{"role": "user", "content": "FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH: qa"}]}`,
			"prompts.jsonl:1: SPEED-Bench data that was not prepared"},
		{"too long", "{\"prompt\": \"p\"}\n" + strings.Repeat("x", maxLine+1), "prompts.jsonl:2: the line is longer than 16777216 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "prompts.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(tt.content), 0o600))
			_, err := File(path)
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := File(filepath.Join(t.TempDir(), "nowhere.jsonl"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = File(t.TempDir())
	require.Error(t, err)
}

func FuzzDecode(f *testing.F) {
	f.Add(string(builtin))
	f.Add(`{"prompt": "p"}` + "\n" + `{"text": "t"}`)
	f.Add(`{"question_id": 1e3, "turns": ["a"]}`)
	f.Add(`{"messages": [{"role": "user", "content": "u"}]}`)
	f.Add("\xEF\xBB\xBF{}")
	f.Add("{\"prompt\": \"" + unprepared + "\"}")
	f.Fuzz(func(t *testing.T, content string) {
		prompts, format, err := decode(strings.NewReader(content), "f")
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "f:"), err)
			require.Empty(t, prompts)
			return
		}
		require.NotEmpty(t, format)
		require.NotEmpty(t, prompts)
		require.LessOrEqual(t, len(prompts), strings.Count(content, "\n")+1)
		for _, p := range prompts {
			require.NotEmpty(t, strings.TrimSpace(p.Text))
			require.NotEmpty(t, p.ID)
			require.NotContains(t, p.Text, unprepared)
		}
	})
}
