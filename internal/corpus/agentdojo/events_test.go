package agentdojo

import (
	"bytes"
	"crypto/sha256"
	"os"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

func load(t *testing.T, id string) *Run {
	t.Helper()
	data, err := os.ReadFile("testdata/runs/" + id + ".json")
	if err != nil {
		t.Fatal(err)
	}
	run, err := Decode(id+".json", data)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestEvents(t *testing.T) {
	events := load(t, "model-a/banking/user_task_0/none/none").Events()
	for i, want := range []struct {
		kind   schema.Kind
		actor  schema.Actor
		call   string
		tool   string
		canon  string // arguments or result
		text   string
		status schema.ResultStatus
	}{
		{kind: schema.KindMessage, actor: schema.Actor{ID: "system", Class: schema.ClassSystem}, tool: MessageTool, text: "You are an assistant of a bank."},
		{kind: schema.KindMessage, actor: schema.Actor{ID: "user", Class: schema.ClassUser}, tool: MessageTool, text: "Pay the bill."},
		{kind: schema.KindCall, actor: schema.Actor{ID: "agent", Class: schema.ClassAgent}, call: "c1", tool: "get_balance", canon: `{}`},
		{kind: schema.KindResult, actor: schema.Actor{ID: "tool", Class: schema.ClassTool}, call: "c1", tool: "get_balance", canon: `"1810.0"`},
		{kind: schema.KindMessage, actor: schema.Actor{ID: "agent", Class: schema.ClassAgent}, tool: MessageTool, text: "Paying now."},
		{kind: schema.KindCall, actor: schema.Actor{ID: "agent", Class: schema.ClassAgent}, call: "c2", tool: "send_money", canon: `{"amount":10.5,"recipient":"GB29"}`},
		{kind: schema.KindResult, actor: schema.Actor{ID: "tool", Class: schema.ClassTool}, call: "c2", tool: "send_money", canon: `"ValueError: no such recipient"`, status: schema.ResultError},
		{kind: schema.KindMessage, actor: schema.Actor{ID: "agent", Class: schema.ClassAgent}, tool: MessageTool, text: "It failed."},
	} {
		ev := events[i]
		canon := string(ev.Args.Canon) + string(ev.Result.Canon)
		if ev.Kind != want.kind || ev.Actor != want.actor || ev.CallID != want.call || ev.Tool != want.tool ||
			canon != want.canon || ev.Text != want.text || ev.Status != want.status {
			t.Errorf("event %d: %+v, want %+v", i, ev, want)
		}
	}
	if len(events) != 8 {
		t.Errorf("%d events, want 8", len(events))
	}
}

func TestUnreadableArgumentsAreMalformed(t *testing.T) {
	status := map[string]schema.PayloadStatus{
		"1": schema.PayloadAbsent, "2": schema.PayloadAbsent, "3": schema.PayloadOK,
		"4": schema.PayloadOK, "5": schema.PayloadMalformed, "6": schema.PayloadMalformed,
	}
	calls := 0
	for _, ev := range load(t, "model-a/banking/injection_task_5/none/none").Events() {
		if ev.Kind != schema.KindCall {
			continue
		}
		calls++
		if ev.Args.Status != status[ev.CallID] {
			t.Errorf("call %s: arguments are %v, want %v", ev.CallID, ev.Args.Status, status[ev.CallID])
		}
		if (ev.Args.Canon != nil) != (ev.Args.Status == schema.PayloadOK) {
			t.Errorf("call %s: arguments %q although %v", ev.CallID, ev.Args.Canon, ev.Args.Status)
		}
	}
	if calls != len(status) {
		t.Errorf("%d calls, want %d", calls, len(status))
	}

	deep := `{"a":` + strings.Repeat("[", schema.MaxJSONDepth) + strings.Repeat("]", schema.MaxJSONDepth) + `}`
	run := &Run{ID: "deep", Steps: []Step{{Kind: StepCall, CallID: "c", Tool: "t", Args: []byte(deep), ArgsStatus: schema.PayloadOK}}}
	want := sha256.Sum256([]byte(deep))
	if p := run.Events()[0].Args; p.Status != schema.PayloadMalformed || !bytes.Equal(p.RawDigest, want[:]) {
		t.Errorf("too deep: %v with digest %x, want malformed with %x", p.Status, p.RawDigest, want)
	}
}

// TestEventsAreValid encodes and decodes every event of the synthetic corpus.
func TestEventsAreValid(t *testing.T) {
	seen, events := map[string]bool{}, 0
	for run, err := range Runs(t.Context(), []string{"testdata/runs"}, Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range run.Events() {
			events++
			if err := ev.Validate(); err != nil {
				t.Errorf("%s: %v", ev.ID, err)
			}
			if _, err := ev.AppendBinary(nil); err != nil {
				t.Errorf("%s: %v", ev.ID, err)
			}
			if seen[ev.ID] {
				t.Errorf("%s occurs twice", ev.ID)
			}
			seen[ev.ID] = true
			for name, value := range ev.Labels {
				if strings.Contains(value, "injection") || strings.Contains(value, "attack") {
					t.Errorf("%s: label %s = %q gives the run's group away", ev.ID, name, value)
				}
			}
		}
	}
	if events == 0 {
		t.Error("no events")
	}
}
