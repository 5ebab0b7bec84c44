package simulator

import "encoding/json"

// tool is a tool that a request offers.
type tool struct {
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// toolCall calls a tool, or in a stream is a part of the call.
type toolCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function calledOrPart `json:"function"`
}

type calledOrPart struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// callsTool reports whether the answer is a call of the first tool on offer. Its arguments are an object with the
// answer's text.
func (r *request) callsTool() bool { return r.chat && len(r.Tools) > 0 }

// call is the whole call.
func (r *request) call(text string) []toolCall {
	return []toolCall{{ID: r.id + "-call", Type: "function", Function: calledOrPart{r.Tools[0].Function.Name, arguments(text)}}}
}

// delta is what a step of a chat's stream adds.
func (r *request) delta(text string, first, last bool) delta {
	if r.callsTool() {
		return delta{ToolCalls: r.callPart(text, first, last)}
	}
	return delta{Content: text}
}

// callPart is what a step adds to the call.
func (r *request) callPart(text string, first, last bool) []toolCall {
	const open, end = `{"text":"`, `"}`
	quoted := arguments(text)
	part := toolCall{Index: new(int), Function: calledOrPart{Arguments: quoted[len(open) : len(quoted)-len(end)]}}
	if first {
		part.ID, part.Type, part.Function.Name = r.id+"-call", "function", r.Tools[0].Function.Name
		part.Function.Arguments = open + part.Function.Arguments
	}
	if last {
		part.Function.Arguments += end
	}
	return []toolCall{part}
}

func arguments(text string) string {
	b, _ := json.Marshal(struct { // A text has a form in JSON.
		Text string `json:"text"`
	}{text})
	return string(b)
}
