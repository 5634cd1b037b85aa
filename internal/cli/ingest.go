package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/corpus/jsonl"
	"github.com/aspis-rv/aspis/internal/service/ingest"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// ingestFlags are the flags of `aspis ingest`.
type ingestFlags struct {
	deployFlags
	name, tenant, vantage, rejects string
	grants                         bool
	classify                       classifyFlags
}

func newIngest(e *env) *cobra.Command {
	var f ingestFlags
	cmd := &cobra.Command{
		Use: "ingest --policy DIR [FILE|-]", Short: "Append events from a file or a pipe to the log", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "-"
			if len(args) == 1 {
				path = args[0]
			}
			return e.ingest(cmd.Context(), &f, path)
		},
	}
	f.registerRole(cmd)
	f.registerKeys(cmd)
	f.classify.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.name, "name", "", "name of this producer (default: from host and process)")
	fs.StringVar(&f.tenant, "tenant", "default", "tenant of what is ingested")
	fs.StringVar(&f.vantage, "vantage", "reported", "how the events came to be seen: reported, attested or observed")
	fs.BoolVar(&f.grants, "grants", false, "accept authority records (kind grant); the file states who its actors are, so it can grant whatever it likes")
	fs.StringVar(&f.rejects, "rejects", "", "file for rejected input and why, JSON Lines (default: standard error)")
	return cmd
}

func (e *env) ingest(ctx context.Context, f *ingestFlags, path string) error {
	b, err := e.loadBundle(f.policy)
	if err != nil {
		return err
	}
	log, err := f.logger(e)
	if err != nil {
		return err
	}
	vantage, err := schema.ParseVantage(f.vantage)
	if err != nil {
		return err
	}
	asker, err := f.classify.asker(e, b, log, nil)
	if err != nil {
		return err
	}
	secret, err := loadSecret(filepath.Join(f.keys, secretFile))
	if err != nil {
		return err
	}
	in, name, err := e.open(path)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	dead, err := e.deadLetter(f.rejects)
	if err != nil {
		return err
	}
	conn, err := f.connect(ctx, "ingest", log)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // everything was waited for
	s, err := ingest.New(ingest.Config{
		Bus: conn, Bundle: b, Name: roleName(f.name, "ingest"), Secret: secret, Tenant: f.tenant, Vantage: vantage,
		Grants: f.grants, Asker: gateAsker(asker), Logger: log,
	})
	if err != nil {
		return err
	}
	var counts ingest.Counts
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err = together(ctx, s.Run, func(ctx context.Context) error {
		defer stop()
		var err error
		counts, err = s.Feed(ctx, jsonl.Events(in, name), func(r ingest.Reject) error { return json.NewEncoder(dead).Encode(r) })
		return err
	})
	if err != nil {
		return err
	}
	if e.json {
		err = json.NewEncoder(e.out).Encode(counts)
	} else {
		_, err = fmt.Fprintf(e.out, "%d accepted, %d rejected\n", counts.Accepted, counts.Rejected)
	}
	if err == nil && counts.Rejected > 0 {
		err = errNo
	}
	return err
}

func (e *env) deadLetter(path string) (io.Writer, error) {
	if path == "" {
		return e.err, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return nil, fmt.Errorf("dead letter: %w", err)
	}
	return f, nil
}
