package natsbus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aspis-rv/aspis/internal/bus"
)

// Error codes of the JetStream API that mean something to the log and have no name in
// the client.
const (
	codeMessageTooLarge     = 10054
	codeStoreFailed         = 10077 // the limits of the stream, told apart by text
	codeStorageExceeded     = 10047
	codeResourcesExceeded   = 10023
	codeMemoryExceeded      = 10028
	codeAccountExceeded     = 10002
	codeTierExceeded        = 10120
	codeNoMessage           = 10037
	codeWrongLastSequence   = 10071
	codeWrongLastSequenceBy = 10164
)

// apiError maps an error the server answered with.
func apiError(code int, description string) error {
	switch code {
	case codeWrongLastSequence, codeWrongLastSequenceBy:
		return fmt.Errorf("%w: %s", bus.ErrExists, description)
	case codeMessageTooLarge:
		return fmt.Errorf("%w: %s", bus.ErrTooLarge, description)
	case codeStoreFailed:
		if description == "maximum bytes exceeded" || description == "maximum messages exceeded" {
			return fmt.Errorf("%w: %s", bus.ErrFull, description)
		}
	case codeStorageExceeded, codeResourcesExceeded, codeMemoryExceeded, codeAccountExceeded, codeTierExceeded:
		return fmt.Errorf("%w: %s", bus.ErrFull, description)
	}
	return fmt.Errorf("%w: the server answered %d: %s", bus.ErrUnavailable, code, description)
}

// sendError maps an error of the client before anything was sent.
func sendError(err error) error {
	if errors.Is(err, nats.ErrMaxPayload) {
		return fmt.Errorf("%w: %w", bus.ErrTooLarge, err)
	}
	return fmt.Errorf("%w: nothing was sent: %w", bus.ErrUnavailable, err)
}

// requestError maps an error of a request to the server. The error of the caller's ctx,
// if it has one, can be found in it; that of a time-out within cannot, as it is not the
// caller's.
func (b *Bus) requestError(ctx context.Context, what string, err error) error {
	if b.life.Err() != nil {
		return bus.ErrClosed
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return fmt.Errorf("natsbus: %s: %w", what, apiError(int(api.ErrorCode), api.Description))
	}
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("natsbus: %s: %w: %w", what, bus.ErrUnavailable, ended)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("natsbus: %s: %w: no answer within %v", what, bus.ErrUnavailable, b.cfg.Timeout)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("natsbus: %s: %w: the connection broke before the answer came", what, bus.ErrUnavailable)
	}
	return fmt.Errorf("natsbus: %s: %w: %w", what, bus.ErrUnavailable, err)
}
