package source

import (
	"fmt"

	"github.com/aspis-rv/aspis/internal/diag"
)

// The codes of this package.
const (
	// CodeSyntax: the text is not YAML. `a: [1`.
	CodeSyntax diag.Code = "Y001"
	// CodeEncoding: the text is not plain UTF-8, or holds a character that makes it
	// look other than it reads. A byte order mark.
	CodeEncoding diag.Code = "Y002"
	// CodeReference: an anchor, an alias or a merge key. `a: &x 1`.
	CodeReference diag.Code = "Y003"
	// CodeTag: an explicit tag. `a: !!str 1`.
	CodeTag diag.Code = "Y004"
	// CodeDuplicate: a key written twice in one map. `{a: 1, a: 2}`.
	CodeDuplicate diag.Code = "Y005"
	// CodeDocuments: a second document in one file. `---`.
	CodeDocuments diag.Code = "Y006"
	// CodeKey: a key that is not a plain name. `? [a] : 1`.
	CodeKey diag.Code = "Y007"
	// CodeLimit: the file is nested too deeply or has too many values.
	CodeLimit diag.Code = "Y008"
	// CodeEmpty: the file holds nothing.
	CodeEmpty diag.Code = "Y009"
)

func errSyntax(msg string) (diag.Code, string, string) {
	hint := ""
	switch msg {
	case "did not find expected ',' or '}'", "did not find expected ',' or ']'":
		hint = "inside {…} and […] put a value that holds brackets, commas or a colon in quotes, for example {cc: \"[string] = []\"}"
	case "mapping values are not allowed in this context":
		hint = "put a text that holds a colon and a blank in quotes"
	case "found character that cannot start any token":
		hint = "indent with blanks, not tabs, and put a text that starts with @, ` or % in quotes"
	}
	return CodeSyntax, "the file is not YAML: " + msg, hint
}

func errNotUTF8() (diag.Code, string, string) {
	return CodeEncoding, "the file is not UTF-8 text", "save it as UTF-8"
}

func errCharacter(r rune) (diag.Code, string, string) {
	return CodeEncoding, fmt.Sprintf("the character U+%04X is not allowed in a policy file", r),
		"delete it: it is invisible, breaks lines or turns the direction of the text"
}

func errAnchor() (diag.Code, string, string) {
	return CodeReference, "anchors are not allowed", "write the value out where it is used"
}

func errAlias() (diag.Code, string, string) {
	return CodeReference, "aliases are not allowed", "write the value out here, or put a text that starts with * in quotes"
}

func errMerge() (diag.Code, string, string) {
	return CodeReference, "merge keys are not allowed", "write the merged entries out"
}

func errTag(tag string) (diag.Code, string, string) {
	return CodeTag, fmt.Sprintf("the tag %s is not allowed", tag),
		"delete it, and put the value in quotes if it is meant as text or starts with !"
}

func errDuplicate(key string, first diag.Pos) (diag.Code, string, string) {
	return CodeDuplicate, fmt.Sprintf("the key %q stands twice in this map", key),
		fmt.Sprintf("delete one of the two; the first is on line %d", first.Line)
}

func errDocuments() (diag.Code, string, string) {
	return CodeDocuments, "the file holds a second document", "keep one document a file"
}

func errKey(what string) (diag.Code, string, string) {
	return CodeKey, fmt.Sprintf("a key must be a text, and this is %s", what), "put the key in quotes"
}

func errDepth() (diag.Code, string, string) {
	return CodeLimit, fmt.Sprintf("values are nested more than %d deep", MaxDepth), "flatten the file"
}

func errCount() (diag.Code, string, string) {
	return CodeLimit, fmt.Sprintf("the file holds more than %d values", MaxNodes), "split the policy"
}

func errEmpty() (diag.Code, string, string) {
	return CodeEmpty, "the file holds nothing", "write at least one key"
}
