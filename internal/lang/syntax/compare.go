package syntax

// Holds reports whether the comparison holds of two values whose order is -1, 0 or 1.
func (o CmpOp) Holds(order int) bool {
	switch o {
	case Eq:
		return order == 0
	case Less:
		return order < 0
	case LessEq:
		return order <= 0
	case Greater:
		return order > 0
	case GreaterEq:
		return order >= 0
	}
	return false
}

// Mirrored is the comparison with its sides exchanged.
func (o CmpOp) Mirrored() CmpOp {
	switch o {
	case Less:
		return Greater
	case LessEq:
		return GreaterEq
	case Greater:
		return Less
	case GreaterEq:
		return LessEq
	case Eq:
	}
	return o
}
