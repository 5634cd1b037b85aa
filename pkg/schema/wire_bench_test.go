package schema

import "testing"

func BenchmarkAppendCall(b *testing.B) {
	e := typicalCall()
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = e.AppendBinary(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecodeCall(b *testing.B) {
	buf, err := typicalCall().AppendBinary(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		if _, err := DecodeEvent(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWalkCall(b *testing.B) {
	buf, err := typicalCall().AppendBinary(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		if err := Walk(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeVerdict(b *testing.B) {
	buf, err := sampleVerdict().AppendBinary(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeVerdict(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendVerdict(b *testing.B) {
	v := sampleVerdict()
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = v.AppendBinary(buf[:0])
	}
}
