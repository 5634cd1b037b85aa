package protocol

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// Snapshot is the protocol state of a partition as composers store it and gates
// read it.
type Snapshot struct {
	Partition *Partition
	// Verdicts is the offset from which the verdicts topic has to be read again to
	// complete the attempts that were open.
	Verdicts uint64
}

type snapshotRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Version  int
	Verdicts uint64
	State    []byte
}

// SnapshotKey is the key under which the snapshot of a partition is stored.
func SnapshotKey(partition uint32) string { return fmt.Sprintf("protocol.%d", partition) }

// EncodeSnapshot encodes s.
func EncodeSnapshot(s Snapshot) ([]byte, error) {
	state, err := s.Partition.AppendState(nil)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := msgpack.NewEncoder(&buf)
	enc.UseCompactInts(true)
	if err := enc.Encode(&snapshotRecord{Version: stateVersion, Verdicts: s.Verdicts, State: state}); err != nil {
		return nil, fmt.Errorf("protocol: encoding a snapshot: %w", err)
	}
	return buf.Bytes(), nil
}

// DecodeSnapshot is the inverse of EncodeSnapshot; it fails with ErrState.
func DecodeSnapshot(b []byte, rules Rules) (Snapshot, error) {
	var rec snapshotRecord
	if err := msgpack.Unmarshal(b, &rec); err != nil {
		return Snapshot{}, fmt.Errorf("%w: %w", ErrState, err)
	}
	if rec.Version != stateVersion {
		return Snapshot{}, fmt.Errorf("%w: version %d, want %d", ErrState, rec.Version, stateVersion)
	}
	p, err := Restore(rec.State, rules)
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{Partition: p, Verdicts: rec.Verdicts}, nil
}
