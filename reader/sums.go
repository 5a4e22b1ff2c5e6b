package reader

import (
	"encoding/binary"
	"fmt"
	"strings"

	"tallyhouse/analytics"
)

// sumSize is how many bytes of a row's sums one Int128 takes.
const sumSize = 16

// ofRolls is the condition that a row of sums is of one of these rolls, by how its keys begin: the sorting key finds it.
func ofRolls(rolls ...string) string {
	return anyRoll(rolls, func(begin string) string { return "startsWith(keys, '" + begin + "')" })
}

// ofContract is the condition that a row of sums is of one of these rolls and of the contract that the parameter id names.
func ofContract(rolls []string) string {
	return anyRoll(rolls, func(begin string) string { return "startsWith(keys, concat('" + begin + `', {id:String}, '\0'))` })
}

// ofContracts is the condition that a row of sums is of one of these rolls and of a contract whose id lies behind the
// parameter after, and not behind the one that last is an expression of.
func ofContracts(rolls []string, last string) string {
	return anyRoll(rolls, func(begin string) string {
		return "keys > concat('" + begin + `', {after:String}, '\x01') AND keys < concat('` + begin + "', " + last + `, '\x01')`
	})
}

func anyRoll(rolls []string, condition func(begin string) string) string {
	conditions := make([]string, len(rolls))
	for i, roll := range rolls {
		conditions[i] = condition(roll + `\0`)
	}
	if len(conditions) == 0 {
		return "false"
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// packed is the expression of several Int128 as one string, the least significant byte first. Thousands of rows of sums
// travel and are scanned several times faster as one string each than as big integers.
func packed(sums ...string) string {
	bytes := make([]string, len(sums))
	for i, s := range sums {
		bytes[i] = "reinterpretAsFixedString(toInt128(" + s + "))"
	}
	return "concat(" + strings.Join(bytes, ", ") + ", '')"
}

// unpack reads as many sums as there are places for them.
func unpack(text string, into ...*analytics.Int128) error {
	if len(text) != len(into)*sumSize {
		return fmt.Errorf("sums of %d bytes, want %d of %d", len(text), len(into), sumSize)
	}
	for i, sum := range into {
		*sum = analytics.NewInt128(int64(littleEndian(text[i*sumSize+8:])), littleEndian(text[i*sumSize:]))
	}
	return nil
}

// littleEndian is the number in the first eight bytes of a text.
func littleEndian(text string) uint64 {
	var b [8]byte
	copy(b[:], text)
	return binary.LittleEndian.Uint64(b[:])
}
