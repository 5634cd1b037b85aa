package monpoly

import "io"

// more reads on when everything in the buffer was looked at. It keeps what follows
// *from, which it moves along with the bytes, and with pos and the start of the line.
// It returns false at the end of the input and after an error, which is then in fail.
func (s *scanner) more(from *int) bool {
	if s.fail != nil {
		return false
	}
	if len(s.buf) == cap(s.buf) {
		s.makeRoom(from)
	}
	for range 100 { // what io.Reader allows and no reader should do
		n, err := s.in.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		s.fail = err
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	s.fail = io.ErrNoProgress
	return false
}

// makeRoom moves what follows *from to the start of a buffer that nobody holds, and
// doubles the buffer if it is no longer than that.
func (s *scanner) makeRoom(from *int) {
	shift := *from
	rest := s.buf[shift:]
	dst := s.buf[:0]
	switch {
	case len(rest) > cap(s.buf)/2:
		dst = make([]byte, 0, 2*cap(s.buf))
	case s.kept:
		dst = s.spare()
	}
	if s.kept {
		s.old = s.buf[:0]
	}
	s.buf = append(dst, rest...)
	s.pos -= shift
	s.bol -= shift
	if from != &s.pos {
		*from = 0
	}
}

// spare returns a buffer that nobody holds.
func (s *scanner) spare() []byte {
	dst := s.free
	s.free = nil
	if cap(dst) < s.size {
		dst = make([]byte, 0, s.size)
	}
	return dst
}

// hold keeps the current word valid until release.
func (s *scanner) hold() { s.kept = true }

// release ends the validity of all words.
func (s *scanner) release() {
	s.kept = false
	if s.old != nil {
		s.free, s.old = s.old, nil
	}
}
