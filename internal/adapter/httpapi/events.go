package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// eventBody is one event: the body of POST /v1/events, an element of a batch, or a
// line of a stream.
type eventBody struct {
	Session string            `json:"session"`
	Kind    string            `json:"kind"`
	Role    string            `json:"role"`
	Text    string            `json:"text"`
	Labels  map[string]string `json:"labels"`
}

// eventsBody is the body of POST /v1/events: one event, or a batch. The events of a
// batch stay raw here, so that a bad one does not refuse the others.
type eventsBody struct {
	eventBody `json:",embed"`

	Events *[]jsontext.Value `json:"events"`
}

// ItemResult is what became of one event of a batch or stream: a receipt or a
// problem.
type ItemResult struct {
	Item    int            `json:"item"` // from 1: the place in the batch, or the line
	ID      string         `json:"id,omitempty"`
	Session string         `json:"session,omitempty"`
	Reason  verdict.Reason `json:"reason,omitempty"`
	Message string         `json:"message,omitempty"`
}

// BatchResult is the answer to a batch: Results has one element per event, in order.
type BatchResult struct {
	Recorded int          `json:"recorded"`
	Refused  int          `json:"refused"`
	Results  []ItemResult `json:"results"`
}

func (s *Server) postEvents(w *reply, r *http.Request, who gate.Principal) {
	if hasType(r, typeNDJSON) {
		s.streamEvents(w, r, who)
		return
	}
	if !hasType(r, typeJSON) {
		w.fail(wrongType(typeJSON + " or " + typeNDJSON))
		return
	}
	var b eventsBody
	if f := s.into(r, w, &b, false); f != nil {
		w.fail(f)
		return
	}
	if b.Events != nil {
		s.postBatch(w, r, who, &b)
		return
	}
	req, err := b.request()
	if err != nil {
		w.fail(malformed(err))
		return
	}
	receipt, err := s.cfg.Backend.Recorder.Message(r.Context(), who, req)
	w.receipt(r, receipt, err)
}

func (s *Server) postBatch(w *reply, r *http.Request, who gate.Principal, b *eventsBody) {
	events := *b.Events
	if one := b.eventBody; one.Session != "" || one.Kind != "" || one.Role != "" || one.Text != "" || one.Labels != nil {
		w.fail(malformed(errors.New("a batch has the member events alone; give session, kind and text in each event")))
		return
	}
	if len(events) == 0 || len(events) > MaxBatch {
		w.fail(malformed(fmt.Errorf("events has %d elements; a batch has 1 to %d", len(events), MaxBatch)))
		return
	}
	out := BatchResult{Results: make([]ItemResult, 0, len(events))}
	feed := feeder{srv: s, r: r, who: who}
	for i, raw := range events {
		res := feed.record(i+1, raw)
		if res.Reason == verdict.NotAdmitted {
			out.Recorded++
		} else {
			out.Refused++
		}
		out.Results = append(out.Results, res)
	}
	w.json(http.StatusOK, &out)
}

func (b *eventBody) request() (gate.MessageRequest, error) {
	req := gate.MessageRequest{Session: b.Session, Role: b.Role, Text: b.Text, Labels: b.Labels}
	if b.Session == "" {
		return req, errNoSession
	}
	switch b.Kind {
	case "", schema.KindMessage.String():
		req.Kind = schema.KindMessage
	case schema.KindObservation.String():
		req.Kind = schema.KindObservation
	default:
		return req, fmt.Errorf("kind %q is neither message nor observation", clip(b.Kind))
	}
	return req, nil
}

// feeder records the events of one batch or stream in order. Once one could not be
// recorded for a reason that is not its own, those behind it are not tried: they
// would overtake it.
type feeder struct {
	srv    *Server
	r      *http.Request
	who    gate.Principal
	broken *ItemResult
}

func (f *feeder) record(item int, raw []byte) ItemResult {
	if f.broken != nil {
		return ItemResult{Item: item, Reason: f.broken.Reason, Message: fmt.Sprintf("not tried, because item %d could not be recorded; send both again", f.broken.Item)}
	}
	var b eventBody
	if err := f.srv.decoder.decode(raw, &b); err != nil {
		return ItemResult{Item: item, Reason: verdict.Invalid, Message: err.Error()}
	}
	req, err := b.request()
	if err != nil {
		return ItemResult{Item: item, Reason: verdict.Invalid, Message: err.Error()}
	}
	receipt, err := f.srv.cfg.Backend.Recorder.Message(f.r.Context(), f.who, req)
	if err == nil {
		return ItemResult{Item: item, ID: receipt.ID, Session: receipt.Session}
	}
	p := f.srv.asProblem(f.r, err)
	res := ItemResult{Item: item, Reason: p.Reason, Message: p.Message}
	if problemStatus(p.Reason) >= http.StatusTooManyRequests {
		f.broken = &res
	}
	return res
}
