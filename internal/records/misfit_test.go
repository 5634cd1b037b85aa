package records

import "testing"

func TestMisfit(t *testing.T) {
	const text = `{"rows": [{"to": "a"}, {"to": null}, {}, {"to": {"x": 1}}, "total"], "n": 3, "none": null}`
	v, err := Parse(JSON, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, at, want string }{
		{"", "", ""},
		{"rows", "", ""},
		{"rows[0].to", "", ""},
		{"rows[1].to.x", "", ""},
		{"rows[2].to.x", "", ""},
		{"rows[9].to", "", ""},
		{"none[].to", "", ""},
		{"other[].to", "", ""},
		{"rows[].to", "rows[4]", "a map"},
		{"rows[].to.x", "rows[0].to", "a map"},
		{"rows.to", "rows", "a map"},
		{"rows.*", "rows", "a map"},
		{"n[0]", "n", "a list"},
		{"[].to", "", "a list"},
		{"*[].to", "rows[4]", "a map"},
		{"*[].none", "rows[4]", "a map"},
	} {
		p, err := ParsePath(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		if at, want, found := p.Misfit(v); at != tt.at || want != tt.want || found != (want != "") {
			t.Errorf("%q: %q, %q, %v, want %q, %q", tt.path, at, want, found, tt.at, tt.want)
		}
	}
}
