package schema

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// DecodeRaw reads one MessagePack value of which nothing is known but that it must
// be canonical, such as an element of Event.Unknown. It walks raw first. The result
// is built of nil, bool, int64, uint64 (only above the range of int64), float64,
// string, []byte, []any and map[string]any, and shares no memory with raw. Errors
// wrap ErrWire.
func DecodeRaw(raw []byte) (any, error) {
	if err := Walk(raw); err != nil {
		return nil, err
	}
	v, err := msgpack.NewDecoder(bytes.NewReader(raw)).DecodeInterface()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWire, err)
	}
	return widen(v), nil
}

// widen brings the library's many integer types to two.
func widen(v any) any {
	switch v := v.(type) {
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		if v <= 1<<63-1 {
			return int64(v)
		}
		return v
	case []any:
		for i := range v {
			v[i] = widen(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = widen(v[k])
		}
	}
	return v
}
