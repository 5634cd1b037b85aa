package natsbus

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// lastOf returns the sequence of the last record of a partition, 0 if there is none, as
// the stream's leader knows it.
func (b *Bus) lastOf(ctx context.Context, t bus.Topic, p uint32) (uint64, error) {
	return b.find(ctx, t, fmt.Appendf(nil, `{"last_by_subj":%q}`, laneFilter(t, p)))
}

// firstOf returns the sequence of the first retained record of a partition, 0 if there
// is none.
func (b *Bus) firstOf(ctx context.Context, t bus.Topic, p uint32) (uint64, error) {
	return b.find(ctx, t, fmt.Appendf(nil, `{"seq":1,"next_by_subj":%q}`, laneFilter(t, p)))
}

// firstAfter returns the sequence of the first record of a partition appended at or
// after a time, 0 if there is none.
func (b *Bus) firstAfter(ctx context.Context, t bus.Topic, p uint32, at time.Time) (uint64, error) {
	return b.find(ctx, t, fmt.Appendf(nil, `{"start_time":%q,"next_by_subj":%q}`, at.UTC().Format(time.RFC3339Nano), laneFilter(t, p)))
}

// find asks the leader of a topic's stream for one record and returns its sequence, 0
// if there is none.
func (b *Bus) find(ctx context.Context, t bus.Topic, request []byte) (uint64, error) {
	bounded, cancel := b.bounded(ctx)
	defer cancel()
	m, err := b.sub.RequestWithContext(bounded, "$JS.API.STREAM.MSG.GET."+streamName(t), request)
	if err != nil {
		return 0, b.requestError(ctx, "find a record", err)
	}
	var answer struct {
		Message struct {
			Seq uint64 `json:"seq"`
		} `json:"message"`
		Error *struct {
			Code        int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(m.Data, &answer); {
	case err != nil:
		return 0, b.requestError(ctx, "find a record", err)
	case answer.Error == nil:
		return answer.Message.Seq, nil
	case answer.Error.Code == codeNoMessage:
		return 0, nil
	}
	return 0, fmt.Errorf("natsbus: find a record: %w", apiError(answer.Error.Code, answer.Error.Description))
}
