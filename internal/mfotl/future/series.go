package future

// series holds one value for each of a run of consecutive time points. Appending and
// dropping take amortised constant time. The zero value starts at time point 0.
type series[T any] struct {
	first uint64 // time point of items[head]
	head  int
	items []T
}

// end is the time point after the last one that has a value.
func (s *series[T]) end() uint64 { return s.first + uint64(s.len()) }

func (s *series[T]) len() int { return len(s.items) - s.head }

// at returns the value of a time point that has one.
func (s *series[T]) at(i uint64) *T { return &s.items[s.head+int(i-s.first)] }

func (s *series[T]) push(v T) { s.items = append(s.items, v) }

// skip passes over the time point after the last one that has a value, where none has.
func (s *series[T]) skip() { s.first++ }

// drop forgets the value of the first time point, which there is.
func (s *series[T]) drop() {
	var none T
	s.items[s.head] = none
	s.head++
	s.first++
	if s.head > len(s.items)/2 {
		n := copy(s.items, s.items[s.head:])
		clear(s.items[n:])
		s.items, s.head = s.items[:n], 0
	}
}

// dropBefore forgets the values of the time points before i.
func (s *series[T]) dropBefore(i uint64) {
	for s.first < i && s.len() > 0 {
		s.drop()
	}
}
