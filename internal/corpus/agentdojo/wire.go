package agentdojo

import (
	"bytes"
	"encoding/json"
	"strings"
)

// wireRun is a run's file. Fields that no reader of ours uses are left out.
type wireRun struct {
	Suite     string          `json:"suite_name"`
	Pipeline  string          `json:"pipeline_name"`
	UserTask  string          `json:"user_task_id"`
	Injection string          `json:"injection_task_id"`
	Attack    string          `json:"attack_type"`
	Messages  []wireMessage   `json:"messages"`
	Failure   wireText        `json:"error"`
	Utility   json.RawMessage `json:"utility"`
	Security  json.RawMessage `json:"security"`
}

type wireMessage struct {
	Role      string      `json:"role"`
	Content   wireText    `json:"content"`
	ToolCalls []*wireCall `json:"tool_calls"`
	// The rest stands on tool messages only.
	CallID string    `json:"tool_call_id"`
	Call   *wireCall `json:"tool_call"`
	Error  wireText  `json:"error"`
}

type wireCall struct {
	Function wireFunction    `json:"function"`
	Args     json.RawMessage `json:"args"`
	ID       wireText        `json:"id"`
}

// wireText is text recorded as a string, null, or a list of text parts, each an
// object or a bare string. Anything else is kept as its JSON text and marked odd.
type wireText struct {
	text string
	odd  bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *wireText) UnmarshalJSON(data []byte) error {
	switch {
	case len(data) == 0 || string(data) == "null":
		*t = wireText{}
		return nil
	case data[0] == '"':
		t.odd = false
		return json.Unmarshal(data, &t.text)
	case data[0] == '[':
		return t.parts(data)
	}
	*t = wireText{text: string(data), odd: true}
	return nil
}

func (t *wireText) parts(data []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	var out strings.Builder
	*t = wireText{}
	for _, raw := range list {
		var p struct {
			Content *string `json:"content"`
			Text    *string `json:"text"`
		}
		var bare string
		switch {
		case json.Unmarshal(raw, &bare) == nil:
			out.WriteString(bare)
		case json.Unmarshal(raw, &p) == nil && p.Content != nil:
			out.WriteString(*p.Content)
		case json.Unmarshal(raw, &p) == nil && p.Text != nil:
			out.WriteString(*p.Text)
		default:
			t.odd = true
			out.Write(raw)
		}
	}
	t.text = out.String()
	return nil
}

// wireFunction is the tool of a call: its name, or an object with the name and, in
// the shape of OpenAI's API, the arguments.
type wireFunction struct {
	name string
	args json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *wireFunction) UnmarshalJSON(data []byte) error {
	var object struct {
		Name      wireText        `json:"name"`
		Args      json.RawMessage `json:"args"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if len(data) > 0 && data[0] == '"' {
		f.args = nil
		return json.Unmarshal(data, &f.name)
	}
	*f = wireFunction{} // without a name; the decoder counts such a call
	if len(data) == 0 || data[0] != '{' {
		return nil
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	if !object.Name.odd {
		f.name = object.Name.text
	}
	if f.args = object.Args; isNull(f.args) {
		f.args = object.Arguments
	}
	return nil
}

// isTrue reports whether raw is the JSON value true.
func isTrue(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "true" }

// isNull reports whether raw is null or absent.
func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}
