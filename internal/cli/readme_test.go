package cli

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeShowsTheExample: the policy in README.md is the file that is tested.
func TestReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := os.ReadFile("../../docs/examples/consent/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```yaml\n"+string(policy)+"```\n") {
		t.Error("README.md does not show docs/examples/consent/policy.yaml as it is")
	}
}
