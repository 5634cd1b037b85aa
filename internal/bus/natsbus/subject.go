package natsbus

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/bus"
)

// Names of the streams and of the snapshot bucket.
const (
	eventsStream   = "EVENTS"
	verdictsStream = "VERDICTS"
	snapshotBucket = "SNAPSHOTS"
	chunkStream    = "SNAPCHUNKS"
)

// hashBytes is the length of a hashed key before encoding. 160 bits keep two keys
// apart even if someone searches for a collision.
const hashBytes = 20

// token returns a subject token for a string of a caller: 32 letters and digits. salt
// keeps the tokens of different uses and partitions apart.
func token(use byte, salt uint32, s string) string {
	h := sha256.New()
	var head [5]byte
	head[0] = use
	binary.BigEndian.PutUint32(head[1:], salt)
	h.Write(head[:])
	h.Write([]byte(s))
	var sum [sha256.Size]byte
	return base32.StdEncoding.EncodeToString(h.Sum(sum[:0])[:hashBytes])
}

// The uses of token.
const (
	useCreate   = 'c'
	useID       = 'i'
	useSnapshot = 's'
)

// streamName returns the stream of t, which the caller has checked.
func streamName(t bus.Topic) string {
	if t == bus.Verdicts {
		return verdictsStream
	}
	return eventsStream
}

// subjectPrefix returns the first token of the subjects of t and the dot after it.
func subjectPrefix(t bus.Topic) string {
	if t == bus.Verdicts {
		return "vd."
	}
	return "ev."
}

// appendSubject is the subject of ordinary appended records.
func appendSubject(t bus.Topic, p uint32) string {
	return subjectPrefix(t) + strconv.FormatUint(uint64(p), 10) + ".r"
}

// createSubject is the subject of the one record created under key.
func createSubject(t bus.Topic, p uint32, key string) string {
	return subjectPrefix(t) + strconv.FormatUint(uint64(p), 10) + ".c." + token(useCreate, 0, key)
}

// laneFilter matches every record of a partition.
func laneFilter(t bus.Topic, p uint32) string {
	return subjectPrefix(t) + strconv.FormatUint(uint64(p), 10) + ".>"
}

// partitionOf returns the partition of a record's subject.
func partitionOf(subject string) (uint32, bool) {
	_, rest, ok := strings.Cut(subject, ".")
	if !ok {
		return 0, false
	}
	digits, _, ok := strings.Cut(rest, ".")
	if !ok {
		return 0, false
	}
	p, err := strconv.ParseUint(digits, 10, 32)
	return uint32(p), err == nil
}
