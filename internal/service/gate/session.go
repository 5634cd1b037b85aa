package gate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/aspis-rv/aspis/internal/placement"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Principal is who a request was authenticated as. The adapter derives it from the
// credential, never from the body.
type Principal struct {
	ID     string
	Class  schema.ActorClass
	Tenant string
}

// errSession is the cause of every refusal of a session id. Its text is the same
// for a forged, a foreign and an unknown one.
var errSession = errors.New("the session is not one of yours; open one with POST /v1/sessions")

// sessionKeys issues and checks session ids. An id names its partition and its owner
// and carries a MAC over both and the tenant, so every gate of the deployment can
// check it without asking anybody.
//
//	s<partition>.<ulid>.<owner>.<mac>
type sessionKeys struct {
	mac   []byte
	place *placement.Placement
}

func newSessionKeys(secret []byte, partitions uint32) *sessionKeys {
	return &sessionKeys{mac: placement.Derive(secret, "session"), place: placement.New(secret, partitions)}
}

func (k *sessionKeys) issue(p Principal, partition uint32) string {
	body := fmt.Sprintf("s%d.%s.%s", partition, strings.ToLower(ulid.Make().String()), placement.Owner(p.ID))
	return body + "." + k.sign(p.Tenant, body)
}

func (k *sessionKeys) sign(tenant, body string) string {
	h := hmac.New(sha256.New, k.mac)
	_, _ = fmt.Fprintf(h, "%d:%s%s", len(tenant), tenant, body)
	return encode(h.Sum(nil)[:15])
}

// traceOf is the trace of a record of a session, whose owner its id names.
func (s *Service) traceOf(ev *schema.Event) string {
	owner := placement.Owner(ev.Actor.ID)
	if parts := strings.Split(ev.SessionID, "."); len(parts) == 4 {
		owner = parts[2]
	}
	return placement.Trace(s.cfg.Bundle, ev.SessionID, owner)
}

func encode(b []byte) string {
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

// open checks that id was issued in the principal's tenant and returns its
// partition; own reports whether the principal is its owner.
func (k *sessionKeys) open(p Principal, id string) (partition uint32, own bool, err error) {
	i := strings.LastIndexByte(id, '.')
	if i < 0 || !hmac.Equal([]byte(id[i+1:]), []byte(k.sign(p.Tenant, id[:i]))) {
		return 0, false, errSession
	}
	parts := strings.Split(id[:i], ".")
	if len(parts) != 3 {
		return 0, false, errSession
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(parts[0], "s"), 10, 32)
	if err != nil || n >= uint64(k.place.Partitions()) {
		return 0, false, errSession
	}
	return uint32(n), hmac.Equal([]byte(parts[2]), []byte(placement.Owner(p.ID))), nil
}
