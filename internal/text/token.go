package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokens lists the values that stand in a text, folded, each once, in the order in which they
// first occur: words, and identifiers as wholes. There are at most limit; all says that there are
// no more. Time is linear in the text.
//
// The grammar: blanks and the signs < > ( ) [ ] { } " “ ” „ « » ` , ; | separate tokens, and so do
// comma-like signs of other scripts; of what stands between them the signs . : ! ? ' ’ * _ ~ # @ & / \ - + = and
// dashes are taken off the ends. A token that consists of signs alone is none. Signs in front that make another value
// stay: of a path (/a, ./a, ../a, ~/a), of a name (.env), of an address (_a@b.example), of a number (-5, +49, .5). A comma after one to three digits that
// begin a number or stand behind such a comma, and before exactly three, is part of it (1,000.50). Identifiers come
// first, where they begin, and contain no tokens: `mail alice@example.com` has the tokens mail and
// alice@example.com, not example.com. They may begin behind a label: an address behind a colon, an IBAN behind a
// colon or =, a URL anywhere.
//
//   - A URL begins with a scheme and `://` and goes on to a blank or one of < > " and quotes, or to a sign
//     that separates tokens and before which another URL ends; closing signs at its end that it did not open
//     are not part of it.
//   - An IBAN is two letters, two digits and 11 to 30 letters or digits, at least 8 digits in all, in one
//     piece or in groups of four (ISO 13616). Its token has no blanks. One in groups ends where its check digits
//     are right, and if they are nowhere, with the last group that has a digit.
//   - A number in groups (a telephone number that begins with +, a card number of four groups) is
//     one token, of its digits.
func Tokens(text string, limit int) (tokens []string, all bool) {
	return collect(text, limit, func(c *collection, t token) {
		if t.kind != signsOnly {
			c.add(t.value)
		}
	})
}

// Identifiers lists the identifiers in a text as Tokens does, and no other words: e-mail addresses; URLs, each
// with its form without scheme and final slash, and its host; names of hosts and other names with dots inside, with
// what stands before a path or a port too; IBANs;
// numbers of seven digits and more; and names that begin with @ or #, without that sign.
func Identifiers(text string, limit int) (found []string, all bool) {
	return collect(text, limit, func(c *collection, t token) {
		switch t.kind {
		case signsOnly, word:
		case address, account, number, handle:
			c.add(t.value)
		case dotted:
			c.add(t.value)
			c.add(Fold(hostOf(t.value)))
		case link:
			c.add(t.value)
			_, rest, _ := strings.Cut(t.value, "://")
			c.add(Fold(strings.TrimSuffix(rest, "/")))
			c.add(Fold(hostOf(rest)))
		}
	})
}

// Phrases lists the runs of one to words tokens of a text as Tokens does, as they stand there, folded, with
// one blank where there are several. Between the words of a run stand blanks and the signs . ' ’ & and -, no others.
func Phrases(text string, words, limit int) (found []string, all bool) {
	var run []token
	words = max(words, 1)
	return collect(text, limit, func(c *collection, t token) {
		if t.kind == signsOnly {
			run = run[:0]
			return
		}
		if len(run) > 0 && strings.TrimFunc(text[run[len(run)-1].end:t.start], phraseGap) != "" {
			run = run[:0]
		}
		if len(run) == words {
			copy(run, run[1:])
			run = run[:len(run)-1]
		}
		run = append(run, t)
		for i := range run {
			if i == len(run)-1 {
				c.add(t.value)
				break
			}
			c.add(strings.Join(strings.Fields(Fold(text[run[i].start:t.end])), " "))
		}
	})
}

// phraseGap says which signs may stand between the words of a phrase.
func phraseGap(r rune) bool {
	return unicode.IsSpace(r) || r == '.' || r == '\'' || r == '’' || r == '&' || r == '-'
}

// hostOf is the host of a URL without scheme, folded.
func hostOf(rest string) string {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && strings.Trim(rest[i+1:], "0123456789") == "" {
		rest = rest[:i]
	}
	return strings.TrimSuffix(rest, ".")
}

// collection is a list of distinct values with a limit.
type collection struct {
	values []string
	known  map[string]bool
	limit  int
	more   bool
}

func (c *collection) add(v string) {
	switch {
	case v == "" || c.known[v]:
	case len(c.values) == c.limit:
		c.more = true
	default:
		c.known[v] = true
		c.values = append(c.values, v)
	}
}

// collect lists what take adds of the tokens of a text.
func collect(text string, limit int, take func(*collection, token)) (values []string, all bool) {
	c := &collection{known: map[string]bool{}, limit: limit}
	for l := (lexer{text: text}); !c.more; {
		t, ok := l.next()
		if !ok {
			break
		}
		take(c, t)
	}
	return c.values, !c.more
}

// shape is what a token is.
type shape uint8

const (
	signsOnly shape = iota
	word
	address
	link
	account
	number
	handle
	dotted
)

// token is a token and where it stands, without what was taken off its ends.
type token struct {
	kind       shape
	value      string // folded
	start, end int
}

// lexer finds tokens.
type lexer struct {
	text string
	at   int
}

// next finds the next token.
func (l *lexer) next() (token, bool) {
	for l.at < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		if !separator(r) {
			break
		}
		l.at += size
	}
	if l.at == len(l.text) {
		return token{}, false
	}
	if t, ok := l.grouped(); ok {
		l.at = t.end
		return t, true
	}
	from := l.at
	if end := linkEnd(l.text[from:]); end > 0 {
		l.at = from + end
		return token{kind: link, value: Fold(l.text[from:l.at]), start: from, end: l.at}, true
	}
	l.at = l.chunkEnd(from)
	return chunk(l.text, from, l.at), true
}

// chunkEnd is where a token ends that begins at from and is no link: before a separator, a link, or what its label
// is the label of.
func (l *lexer) chunkEnd(from int) int {
	end := from
	for end < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[end:])
		if separator(r) && !thousands(l.text, end) {
			break
		}
		if r == ':' {
			if i := schemeStart(l.text[:end]); i > from && linkEnd(l.text[i:]) > 0 {
				return i
			}
		}
		end += size
	}
	chunk := l.text[from:end]
	label := strings.LastIndexAny(chunk, ":=") + 1
	if label == 0 || label == len(chunk) {
		return end
	}
	rest := strings.TrimRight(chunk[label:], offEnd)
	if isAccount(rest) || chunk[label-1] == ':' && isAddress(rest) {
		return from + label
	}
	if _, ok := (&lexer{text: l.text, at: from + label}).grouped(); ok {
		return from + label
	}
	return end
}

// maxScheme bounds the scheme of a URL, in bytes.
const maxScheme = 32

// schemeStart is where the scheme begins that a text ends with; its length if it ends with none.
func schemeStart(s string) int {
	i := len(s)
	for i > 0 && len(s)-i < maxScheme && inScheme(s[i-1]) {
		i--
	}
	for i < len(s) && trait(s[i])&(lower|upper) == 0 {
		i++
	}
	return i
}

// inScheme says which characters a scheme may have behind its first letter.
func inScheme(b byte) bool { return trait(b) != 0 || b == '+' || b == '-' || b == '.' }

// separator says which characters separate tokens.
func separator(r rune) bool {
	switch r {
	case '<', '>', '(', ')', '[', ']', '{', '}', '"', '“', '”', '„', '«', '»', '`', ',', ';', '|', '、', '，', '；', '。', '،', '؛':
		return true
	}
	return unicode.IsSpace(r) || unicode.IsControl(r)
}

// thousands says whether a comma stands between one to three digits, which are not the end of a word or a longer
// number, and exactly three: 1,000 is one number.
func thousands(s string, at int) bool {
	before := at
	for before > 0 && at-before < 4 && trait(s[before-1]) == digit {
		before--
	}
	if s[at] != ',' || before == at || at-before > 3 || before > 0 && trait(s[before-1]) != 0 || len(s) < at+4 {
		return false
	}
	for i := at + 1; i < at+4; i++ {
		if trait(s[i]) != digit {
			return false
		}
	}
	return len(s) == at+4 || trait(s[at+4]) == 0
}

// The signs that are taken off the ends of what stands between separators.
const (
	offStart = ".:!?'’‘*_~&/\\-+=–—…¿¡"
	offEnd   = ".:!?'’‘*_~&/\\-+=–—…@#"
)

// chunk makes a token of what stands between two separators.
func chunk(text string, from, end int) token {
	from += len(text[from:end]) - len(trimStart(text[from:end]))
	t := text[from:end]
	named := strings.HasPrefix(t, "@") || strings.HasPrefix(t, "#")
	t = strings.TrimLeft(t, "@#")
	if named {
		t = trimStart(t)
	}
	from += len(text[from:end]) - len(t)
	t = strings.TrimRight(t, offEnd)
	out := token{kind: word, value: Fold(t), start: from, end: from + len(t)}
	switch {
	case t == "":
		out.kind = signsOnly
	case isAddress(t):
		out.kind = address
	case isAccount(t):
		out.kind = account
	case named:
		out.kind = handle
	case digitsIn(t) >= 7 && strings.Trim(strings.TrimPrefix(t, "+"), "0123456789-./") == "" && !dateLike(t):
		out.kind = number
	case isDotted(strings.TrimLeft(t, offStart)):
		out.kind = dotted
	}
	return out
}

// trimStart takes signs off the start of what stands between separators, up to one that is part of a value.
func trimStart(s string) string {
	// Addresses may begin with _; on both sides it is emphasis.
	if local := strings.TrimLeft(s, strings.ReplaceAll(offStart, "_", "")); strings.HasPrefix(local, "_") && !strings.HasSuffix(s, "_") &&
		isAddress(strings.TrimRight(local, offEnd)) {
		return local
	}
	for before := rune(0); ; {
		r, size := utf8.DecodeRuneInString(s)
		if !strings.ContainsRune(offStart, r) || s == "" || before != '.' && beginsValue(s) {
			return s
		}
		before, s = r, s[size:]
	}
}

// beginsValue says whether the signs that a text begins with are part of a value: of a path (/a, ./a, ../a, ~/a), a
// name with a dot in front, a number with a sign or a point in front.
func beginsValue(s string) bool {
	rest := s
	for _, start := range []string{"~/", "../", "./", "/", ".", "-", "+"} {
		if strings.HasPrefix(s, start) {
			rest = s[len(start):]
			break
		}
	}
	if len(rest) == len(s) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	switch s[0] {
	case '-', '+':
		return unicode.IsDigit(r) || r == '.' && len(rest) > 1 && trait(rest[1]) == digit
	}
	return unicode.In(r, unicode.L, unicode.N) || strings.HasPrefix(s, "../") && strings.HasPrefix(rest, "../") ||
		strings.IndexByte(s[:len(s)-len(rest)], '/') >= 0 && (r == '.' || r == '_')
}

// digitsIn counts the ASCII digits of a text.
func digitsIn(s string) int {
	n := 0
	for i := range len(s) {
		if trait(s[i]) == digit {
			n++
		}
	}
	return n
}

// dateLike says whether a text begins as a date does, year first or last.
func dateLike(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '.' || r == '/' })
	if len(parts) != 3 {
		return false
	}
	return len(parts[0]) == 4 && len(parts[1]) <= 2 && len(parts[2]) <= 2 || len(parts[0]) <= 2 && len(parts[1]) <= 2 && len(parts[2]) == 4
}

// isAddress says whether a text is an e-mail address: something, @, and a host with a dot.
func isAddress(s string) bool {
	local, host, ok := strings.Cut(s, "@")
	return ok && local != "" && !strings.Contains(host, "@") && isDotted(host)
}

// isDotted says whether a text is names with dots between them, the last of which begins with a letter, before a
// path or a port if there is one.
func isDotted(s string) bool {
	if i := strings.IndexAny(s, "/:?#"); i >= 0 {
		s = s[:i]
	}
	i := strings.LastIndexByte(s, '.')
	if i <= 0 || i == len(s)-1 || strings.Contains(s, "..") {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i+1:])
	return unicode.IsLetter(r) && len(s)-i > 2
}

// linkEnd is the length of the URL that a text begins with; 0: with none.
func linkEnd(s string) int {
	i := 0
	for i < len(s) && i <= maxScheme && inScheme(s[i]) {
		i++
	}
	if i == 0 || i > maxScheme || trait(s[0])&(lower|upper) == 0 || !strings.HasPrefix(s[i:], "://") {
		return 0
	}
	begin := i + 3
	end := begin
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>\"“”„«»`", r) {
			break
		}
		if strings.HasPrefix(s[end:], "://") {
			if i := schemeStart(s[:end]); i > begin && strings.IndexByte(",;|()[]{}", s[i-1]) >= 0 {
				end = begin + len(strings.TrimRight(s[begin:i], "([{|"))
				break
			}
		}
		end += size
	}
	end = begin + len(unopened(s[begin:end]))
	if end == begin {
		return 0
	}
	return end
}

// unopened takes signs off the end of a URL that belong to the sentence around it.
func unopened(s string) string {
	opens := [3]int{strings.Count(s, "("), strings.Count(s, "["), strings.Count(s, "{")}
	closes := [3]int{strings.Count(s, ")"), strings.Count(s, "]"), strings.Count(s, "}")}
	for s != "" {
		last := s[len(s)-1]
		if k := strings.IndexByte(")]}", last); k >= 0 {
			if closes[k] <= opens[k] {
				return s
			}
			closes[k]--
		} else if strings.IndexByte(".,;:!?'*", last) < 0 {
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// maxGroups bounds the groups of an identifier that is written in groups.
const maxGroups = 9

// grouped finds an IBAN, a telephone or a card number that is written in groups.
func (l *lexer) grouped() (token, bool) {
	s := l.text[l.at:]
	if !beginsGroups(s) {
		return token{}, false
	}
	var room [64]byte // most words are no groups and take no memory
	joined := room[:0]
	best := token{}
	at, groups, fours := 0, 0, 0
	for groups < maxGroups {
		n := 0
		for at+n < len(s) && n <= 34 && (trait(s[at+n]) != 0 || n == 0 && at == 0 && s[at] == '+') {
			n++
		}
		if n == 0 || n > 34 {
			break
		}
		joined = append(joined, s[at:at+n]...)
		at, groups = at+n, groups+1
		if n == 4 {
			fours++
		}
		if ends := at == len(s) || endsGroup(s[at:]); ends && groups > 1 {
			whole := string(joined)
			k, ok := groupsAre(whole, groups, fours, n)
			right := k == account && checks(whole)
			if ok && (right || k != account || digitsIn(whole[len(whole)-n:]) > 0) {
				best = token{kind: k, value: Fold(whole), start: l.at, end: l.at + at}
			}
			if right {
				break
			}
		}
		if at >= len(s) || s[at] != ' ' && (s[at] != '-' || s[0]|0x20 >= 'a') {
			break
		}
		at++
	}
	return best, best.end > 0
}

// beginsGroups says whether a text begins with a digit or a plus sign, or as an IBAN does.
func beginsGroups(s string) bool {
	if s[0] == '+' || trait(s[0]) == digit {
		return true
	}
	return len(s) > 4 && trait(s[0])&(lower|upper) != 0 && trait(s[1])&(lower|upper) != 0 && trait(s[2]) == digit && trait(s[3]) == digit
}

// endsGroup says whether a text goes on with something that is not part of a group.
func endsGroup(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return !unicode.In(r, unicode.L, unicode.N, unicode.M) && r != '@' && r != '_'
}

// groupsAre says what groups are together: an account in fours, a telephone or a card number.
func groupsAre(joined string, groups, fours, last int) (shape, bool) {
	switch {
	case isAccount(joined) && (fours == groups || fours == groups-1 && last < 4):
		return account, true
	case joined[0] == '+' && len(joined) >= 8 && len(joined) <= 16 && strings.Trim(joined[1:], "0123456789") == "":
		return number, true
	case groups == 4 && fours == 4 && strings.Trim(joined, "0123456789") == "":
		return number, true
	}
	return signsOnly, false
}

// checks says whether the check digits of what isAccount are right (ISO 7064, MOD 97-10).
func checks(s string) bool {
	rest := 0
	for i := range len(s) {
		switch b := s[(i+4)%len(s)]; trait(b) {
		case digit:
			rest = (rest*10 + int(b-'0')) % 97
		case lower, upper:
			rest = (rest*100 + int(lowered(b)-'a') + 10) % 97
		}
	}
	return rest == 1
}

// isAccount says whether a text is an IBAN by its shape: two letters, two digits, 11 to 30 letters or digits.
func isAccount(s string) bool {
	if len(s) < 15 || len(s) > 34 || trait(s[0])&(lower|upper) == 0 || trait(s[1])&(lower|upper) == 0 ||
		trait(s[2]) != digit || trait(s[3]) != digit {
		return false
	}
	digits := 0
	for i := range len(s) {
		switch trait(s[i]) {
		case 0:
			return false
		case digit:
			digits++
		}
	}
	return digits >= 8
}
