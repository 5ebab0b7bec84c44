package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// maxChoices bounds how many texts one request can ask for, prompts times n.
const maxChoices = 128

// request is what is read of a request's body. Other members have no effect.
type request struct {
	Model         string    `json:"model"`
	Messages      []message `json:"messages"`
	Prompt        texts     `json:"prompt"`
	Stream        bool      `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           *int     `json:"max_tokens"`
	MaxCompletionTokens *int     `json:"max_completion_tokens"`
	N                   *int     `json:"n"`
	Seed                *int64   `json:"seed"`
	Temperature         *float64 `json:"temperature"`
	Tools               []tool   `json:"tools"`
	// SpecTokensDetails is SGLang's way to ask for stats.
	SpecTokensDetails bool `json:"return_spec_tokens_details"`

	chat bool
	// id is the answer's id.
	id string
}

type message struct {
	Content content `json:"content"`
}

// content is a message's text: a string, or a list of parts.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(b, &parts) == nil {
		var all []string
		for _, p := range parts {
			all = append(all, p.Text)
		}
		*c = content(strings.Join(all, "\n"))
		return nil
	}
	return json.Unmarshal(b, (*string)(c))
}

// texts is a string, or a list of strings.
type texts []string

func (t *texts) UnmarshalJSON(b []byte) error {
	var one *string
	if json.Unmarshal(b, &one) == nil {
		if one != nil {
			*t = texts{*one}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// prompts returns the texts to answer.
func (r *request) prompts() []string {
	if !r.chat {
		return r.Prompt
	}
	var all []string
	for _, m := range r.Messages {
		all = append(all, string(m.Content))
	}
	return []string{strings.Join(all, "\n")}
}

// choices returns how many answers each prompt gets.
func (r *request) choices() int {
	if r.N == nil {
		return 1
	}
	return *r.N
}

// maxTokens returns the limit of an answer, 0 without one.
func (r *request) maxTokens() int {
	limit := r.MaxTokens
	if r.chat && r.MaxCompletionTokens != nil {
		limit = r.MaxCompletionTokens
	}
	if limit == nil {
		return 0
	}
	return *limit
}

// apiError is an error as the engine answers it.
type apiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
}

func (e *apiError) Error() string { return e.Message }

// badRequest is the error of a request that makes no sense; param names the member, if there is one.
func badRequest(param, format string, args ...any) *apiError {
	e := &apiError{Message: fmt.Sprintf(format, args...), Type: "BadRequestError", Code: http.StatusBadRequest}
	if param != "" {
		e.Param = &param
	}
	return e
}

// check returns what is wrong with the request.
func (r *request) check() *apiError {
	n := r.choices()
	switch {
	case r.chat && len(r.Messages) == 0:
		return badRequest("messages", "messages: field required")
	case !r.chat && len(r.Prompt) == 0:
		return badRequest("prompt", "prompt: field required")
	case r.StreamOptions != nil && !r.Stream:
		return badRequest("stream_options", "Stream options can only be defined when `stream=True`. (parameter=stream_options)")
	case n < 1:
		return badRequest("n", "n must be at least 1, got %d.", n)
	case n > maxChoices || n*len(r.prompts()) > maxChoices:
		return badRequest("n", "n times the number of prompts must be at most %d.", maxChoices)
	case n > 1 && r.Temperature != nil && *r.Temperature == 0:
		return badRequest("", "n must be 1 when using greedy sampling, got %d.", n)
	}
	for _, l := range []struct {
		name  string
		limit *int
	}{{"max_tokens", r.MaxTokens}, {"max_completion_tokens", r.MaxCompletionTokens}} {
		if l.limit != nil && *l.limit < 1 {
			return badRequest(l.name, "%s must be at least 1, got %d. (parameter=%s, value=%d)", l.name, *l.limit, l.name, *l.limit)
		}
	}
	return nil
}
