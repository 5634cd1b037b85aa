package policy

// The limits of a bundle. Crossing one is an error at the place where it is
// crossed.
const (
	// MaxBundle bounds the bytes of all files together: what an archive may unpack to.
	MaxBundle = 10 << 20
	// MaxFile bounds a YAML file. A thousand clauses of a kilobyte each.
	MaxFile = 1 << 20
	// MaxFiles bounds the number of files, so that a directory given by mistake (a
	// home directory) is refused at once.
	MaxFiles = 1000
	// MaxClauses bounds the clauses: the largest published rule pack has 60.
	MaxClauses = 1000
	// MaxRelations bounds facts, states, attributes, sets and globs together.
	MaxRelations = 1000
	// MaxTools bounds the entries under tools; large tool servers list some hundreds.
	MaxTools = 2000
	// MaxClasses bounds the tool classes: they are matched as the bits of one word.
	MaxClasses = 64
	// MaxSet bounds the members of a constant set. Sets are written out in each
	// formula that uses them, so a table of thousands does not belong in one.
	MaxSet = 256
	// MaxExpanded bounds the nodes of a formula after its named formulas and sets are
	// written out. The checker's own limit is of the same order.
	MaxExpanded = 50_000
	// MaxEach bounds the elements an `each` runs over at one event: the recipients of
	// a mail are tens. Beyond it the fact is unknown, not cut off.
	MaxEach = 1024
	// MaxValues bounds the values of one relation of provenance at one event: the words of a
	// message and the identifiers in a mailbox are hundreds. Beyond it they are unknown.
	MaxValues = 4096
	// MaxValueBytes bounds the value of a trusted field that is taken as a whole: an address or an account fits.
	MaxValueBytes = 1024
	// MaxPhraseWords bounds the words of the phrases that provenance takes of a text.
	MaxPhraseWords = 8
	// MaxTestEvents bounds the events of one test; a test is read by people.
	MaxTestEvents = 1000
	// MaxWorldName bounds the name of a vertex, an entity or an object, in bytes: a path or
	// an address fits.
	MaxWorldName = 1024
	// MaxCueLists bounds the cue lists: what a text contains is kept as the bits of one word.
	MaxCueLists = 64
	// MaxClassifiers bounds the classifiers. Each is one more wait before a call.
	MaxClassifiers = 16
	// MaxQuestions bounds the questions about one event: tens of texts, a few classifiers.
	// Further ones are not asked, so that their facts are unknown.
	MaxQuestions = 64
	// MaxExcerpt bounds the piece of text in an Evidence, in bytes.
	MaxExcerpt = 64
	// maxHits is how many cue hits an explanation shows for one fact of one rule, and
	// maxEvidence how many reasons it gives for one event.
	maxHits     = 16
	maxEvidence = 256
	// maxProblems is how many fields of one source that give no values an explanation names.
	maxProblems = 8
	// maxFindings is how many diagnostics a load reports.
	maxFindings = 200
)
