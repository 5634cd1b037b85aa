package records

import "flag"

//nolint:gochecknoglobals // a flag of the test binary
var update = flag.Bool("update", false, "record the tables of testdata")
