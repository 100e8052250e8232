package safetensors

// DType is the element type of a tensor. The zero value is Unknown: a name that
// the format does not have.
type DType uint8

// The element types of the format, in its own order.
const (
	Unknown DType = iota
	BOOL
	F4
	F6E2M3
	F6E3M2
	U8
	I8
	F8E5M2
	F8E4M3
	F8E8M0
	F8E4M3FNUZ
	F8E5M2FNUZ
	I16
	U16
	F16
	BF16
	I32
	U32
	F32
	C64
	F64
	I64
	U64
)

// dtypeCount is one more than the largest DType.
const dtypeCount = int(U64) + 1

var dtypeTable = [dtypeCount]struct {
	name string
	bits uint8
}{
	Unknown:    {"unknown", 0},
	BOOL:       {"BOOL", 8},
	F4:         {"F4", 4},
	F6E2M3:     {"F6_E2M3", 6},
	F6E3M2:     {"F6_E3M2", 6},
	U8:         {"U8", 8},
	I8:         {"I8", 8},
	F8E5M2:     {"F8_E5M2", 8},
	F8E4M3:     {"F8_E4M3", 8},
	F8E8M0:     {"F8_E8M0", 8},
	F8E4M3FNUZ: {"F8_E4M3FNUZ", 8},
	F8E5M2FNUZ: {"F8_E5M2FNUZ", 8},
	I16:        {"I16", 16},
	U16:        {"U16", 16},
	F16:        {"F16", 16},
	BF16:       {"BF16", 16},
	I32:        {"I32", 32},
	U32:        {"U32", 32},
	F32:        {"F32", 32},
	C64:        {"C64", 64},
	F64:        {"F64", 64},
	I64:        {"I64", 64},
	U64:        {"U64", 64},
}

// String is the name in the header, "F8_E4M3" for example.
func (d DType) String() string {
	if int(d) >= dtypeCount {
		d = Unknown
	}
	return dtypeTable[d].name
}

// MarshalText writes the name, so that JSON shows "BF16" and not a number.
func (d DType) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Bits is the width of one element in bits, 0 for Unknown. F4 and F6 elements
// are packed: their bits run across bytes.
func (d DType) Bits() int {
	if int(d) >= dtypeCount {
		return 0
	}
	return int(dtypeTable[d].bits)
}

// IsFloat reports whether elements are real floating-point numbers, of any
// width.
func (d DType) IsFloat() bool {
	switch d {
	case F4, F6E2M3, F6E3M2, F8E5M2, F8E4M3, F8E8M0, F8E4M3FNUZ, F8E5M2FNUZ, F16, BF16, F32, F64:
		return true
	}
	return false
}

// IsInteger reports whether elements are integers, signed or not; BOOL is not.
func (d DType) IsInteger() bool {
	switch d {
	case U8, I8, I16, U16, I32, U32, I64, U64:
		return true
	}
	return false
}

// ParseDType finds a dtype by its name in the header; names are case-sensitive.
func ParseDType(name string) (DType, bool) {
	d := lookupDType([]byte(name))
	return d, d != Unknown
}

// lookupDType is ParseDType without a conversion to string; the switch compiles
// to comparisons of machine words.
func lookupDType(b []byte) DType {
	switch string(b) {
	case "BF16":
		return BF16
	case "F32":
		return F32
	case "F16":
		return F16
	case "F8_E4M3":
		return F8E4M3
	case "I64":
		return I64
	case "I32":
		return I32
	case "U8":
		return U8
	case "I8":
		return I8
	case "BOOL":
		return BOOL
	case "F4":
		return F4
	case "F6_E2M3":
		return F6E2M3
	case "F6_E3M2":
		return F6E3M2
	case "F8_E5M2":
		return F8E5M2
	case "F8_E8M0":
		return F8E8M0
	case "F8_E4M3FNUZ":
		return F8E4M3FNUZ
	case "F8_E5M2FNUZ":
		return F8E5M2FNUZ
	case "I16":
		return I16
	case "U16":
		return U16
	case "U32":
		return U32
	case "C64":
		return C64
	case "F64":
		return F64
	case "U64":
		return U64
	}
	return Unknown
}

// DTypes lists the 22 element types of the format.
func DTypes() []DType {
	list := make([]DType, 0, dtypeCount-1)
	for d := BOOL; int(d) < dtypeCount; d++ {
		list = append(list, d)
	}
	return list
}
