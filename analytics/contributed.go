package analytics

import "slices"

// Equal reports whether both are the same summands in the same order.
func (c Contributions) Equal(other Contributions) bool {
	return slices.Equal(c.Keys, other.Keys) && slices.Equal(c.Sums, other.Sums)
}
