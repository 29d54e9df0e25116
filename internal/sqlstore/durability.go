package sqlstore

// Durability is what an accepted delivery outlives.
type Durability int

// The classes of durability. The zero value means D1.
const (
	defaultDurability Durability = iota
	D0                           // a killed process
	D1                           // also a power cut: the default
	D2                           // also the loss of a database node
)

// OrDefault is d, or D1 if none was chosen.
func (d Durability) OrDefault() Durability {
	if d == defaultDurability {
		return D1
	}
	return d
}

// String is the class as people write it.
func (d Durability) String() string {
	switch d.OrDefault() {
	case D0:
		return "D0"
	case D1:
		return "D1"
	case D2:
		return "D2"
	}
	return "unknown durability"
}
