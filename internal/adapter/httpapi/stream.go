package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// streamEvents records a stream of events, one a line, and answers each line with an
// ItemResult on a line of its own as soon as it is recorded. The stream ends with the
// request, after a silence of StreamIdle, at a line that is too long, or when the
// server shuts down; the last three with a result that says so.
func (s *Server) streamEvents(w *reply, r *http.Request, who gate.Principal) {
	rc := http.NewResponseController(w.ResponseWriter)
	_ = rc.EnableFullDuplex() // HTTP/2 always is; what cannot be answered early is answered late
	stop := context.AfterFunc(s.draining, func() { _ = rc.SetReadDeadline(time.Now()) })
	defer stop()
	w.harden()
	w.Header().Set("Content-Type", typeNDJSON)
	in := lineReader{src: bufio.NewReaderSize(r.Body, 16<<10), limit: s.cfg.MaxBody}
	feed := feeder{srv: s, r: r, who: who}
	for item := 1; ; {
		// Without anything left to read at once, the client may be waiting for us.
		if in.src.Buffered() == 0 && item > 1 {
			_ = rc.Flush()
		}
		_ = rc.SetReadDeadline(time.Now().Add(s.cfg.StreamIdle))
		if s.draining.Err() != nil {
			w.item(ItemResult{Item: item, Reason: verdict.NoAnswer, Message: "the server shuts down; send the rest again"})
			return
		}
		line, err := in.next()
		if len(bytes.TrimSpace(line)) > 0 {
			w.item(feed.record(item, line))
			item++
		}
		if err != nil {
			s.endStream(w, item, err)
			return
		}
	}
}

// endStream says why a stream ended, unless the client ended it.
func (s *Server) endStream(w *reply, item int, err error) {
	switch {
	case errors.Is(err, io.EOF):
		if w.status == 0 {
			w.WriteHeader(http.StatusOK) // a stream without lines
		}
	case errors.Is(err, errLineTooLong):
		w.item(ItemResult{Item: item, Reason: verdict.Invalid, Message: fmt.Sprintf("the line is longer than %d bytes; the stream ends here", s.cfg.MaxBody)})
	case s.draining.Err() != nil:
		w.item(ItemResult{Item: item, Reason: verdict.NoAnswer, Message: "the server shuts down; send the rest again"})
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.item(ItemResult{Item: item, Reason: verdict.Late, Message: fmt.Sprintf("no line came for %s; open a new stream", s.cfg.StreamIdle)})
	default:
		w.item(ItemResult{Item: item, Reason: verdict.Invalid, Message: "the stream broke off"})
	}
}

// item writes one result as a line.
func (w *reply) item(res ItemResult) {
	body, err := marshal(&res)
	if err != nil {
		body = brokenAnswer()
	}
	w.limitWrite()
	_, _ = w.Write(append(body, '\n')) // a client that is gone gets no result
}

// errLineTooLong ends a stream: what follows cannot be told from the line's rest.
var errLineTooLong = errors.New("line too long")

// lineReader splits a body into lines of bounded length.
type lineReader struct {
	src   *bufio.Reader
	limit int
	buf   []byte
}

// next returns the next line without its end, valid until the next call. The last
// line comes with io.EOF, or with the error that cut it short, and is then empty.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.src.ReadSlice('\n')
		if len(l.buf)+len(bytes.TrimSuffix(part, []byte{'\n'})) > l.limit {
			return nil, errLineTooLong
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(l.buf, []byte{'\n'}), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return l.buf, io.EOF
		default:
			return nil, err
		}
	}
}
