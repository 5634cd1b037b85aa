package text

import (
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "@": "", "a@b": "", "@@x.yy@": "",
		"mailto:Eve@X.example":                   "eve@x.example",
		"to=eve@x.example&cc=mal@x.example":      "eve@x.example mal@x.example",
		"<eve@x.example>.":                       "eve@x.example",
		"eve@x.example/a, eve@x.example's":       "eve@x.example",
		"eve@x.example—now":                      "eve@x.example",
		"eve@x.example@y.example":                "eve@x.example x.example@y.example",
		"\xffeve@x.example\xff":                  "eve@x.example",
		"_eve.b+c@x.example_ (e%e@ä.example...)": "eve.b+c@x.example e%e@ä.example",
	} {
		if got, all := Addresses(text, 10); strings.Join(got, " ") != want || !all {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if _, all := Addresses("a@x.yy b@x.yy", 1); all {
		t.Error("a limit that is passed")
	}
	for _, part := range []string{"@", "a@", "a@b.cc", "é", "@é"} {
		Addresses(strings.Repeat(part, 1<<20/len(part)), 1<<20)
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "eve\u200b@x.example\u2060": "eve@x.example", "e\u00adve\u202e\ufe0f\u034f": "eve", "é\ufeff\U000e0041": "é", "患者 а": "患者 а",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%+q: %+q, want %+q", text, got, want)
		}
	}
}
