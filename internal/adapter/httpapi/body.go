package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The content types that requests may have.
const (
	typeJSON   = "application/json"
	typeNDJSON = "application/x-ndjson"
)

// failure is an answer that ends a request before the gate is asked.
type failure struct {
	status  int
	reason  verdict.Reason
	message string
}

func malformed(err error) *failure {
	return &failure{http.StatusBadRequest, verdict.Invalid, err.Error()}
}

// into reads the request's body into dst, strictly. With optional set an empty body
// leaves dst as it is.
func (s *Server) into(r *http.Request, w *reply, dst any, optional bool) *failure {
	if optional && r.ContentLength == 0 {
		return nil
	}
	if !hasType(r, typeJSON) {
		return wrongType(typeJSON)
	}
	body, f := s.read(r, w)
	if f != nil {
		return f
	}
	if optional && len(body) == 0 {
		return nil
	}
	if err := s.decoder.decode(body, dst); err != nil {
		return malformed(err)
	}
	return nil
}

func wrongType(want string) *failure {
	return &failure{
		http.StatusUnsupportedMediaType, verdict.Invalid,
		"Content-Type: this request needs a body of type " + want + ", in UTF-8 and without Content-Encoding",
	}
}

// hasType reports whether the body is declared to be of the type, in UTF-8 and not
// compressed: a small compressed body may be an arbitrarily large one.
func hasType(r *http.Request, want string) bool {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return false
	}
	got := r.Header["Content-Type"]
	if len(got) != 1 {
		return false
	}
	if got[0] == want {
		return true
	}
	media, params, err := mime.ParseMediaType(got[0])
	if err != nil || media != want {
		return false
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return false
		}
	}
	return true
}

// read reads a body within its limit. The read deadline of the connection is lifted
// afterwards: it would end requests that only wait for an answer.
func (s *Server) read(r *http.Request, w *reply) ([]byte, *failure) {
	limit := int64(s.cfg.MaxBody)
	if r.ContentLength > limit {
		return nil, s.tooLarge(w)
	}
	body, err := readAll(http.MaxBytesReader(w.ResponseWriter, r.Body, limit), r.ContentLength)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, s.tooLarge(w)
	case err != nil:
		w.Header().Set("Connection", "close")
		return nil, &failure{http.StatusBadRequest, verdict.Invalid, "the body did not arrive whole and in time; send it again"}
	}
	_ = http.NewResponseController(w.ResponseWriter).SetReadDeadline(time.Time{}) // not every writer has one
	return body, nil
}

func (s *Server) tooLarge(w *reply) *failure {
	w.Header().Set("Connection", "close") // the rest of the body is not worth reading
	return &failure{
		http.StatusRequestEntityTooLarge, verdict.Invalid,
		fmt.Sprintf("the body is larger than %d bytes; pass large content by reference", s.cfg.MaxBody),
	}
}

// readAll is io.ReadAll with a first guess of the size, which may be wrong or -1. The
// guess is a claim of the client's, so it does not get much memory by it.
func readAll(r io.Reader, size int64) ([]byte, error) {
	buf := make([]byte, 0, min(max(size+1, 512), 16<<10))
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}
