package reader

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"tallyhouse/analytics"
)

// sumSize is how many bytes of a row's sums one Int128 takes.
const sumSize = 16

// ofRolls is the condition that a row of sums is of one of these rolls, by how its keys begin: the sorting key finds it.
func ofRolls(rolls ...string) string {
	return anyRoll(rolls, func(begin string) string { return "startsWith(keys, '" + begin + "')" })
}

// betweenRolls is the condition that a row of sums is of one of these rolls, or of another one whose name lies between theirs. That
// is one range of the sorting key: it costs the engine less to find, to read and to check than one for each roll. Rolls that are read
// together are named so that no others of a project lie between them.
func betweenRolls(rolls ...string) string {
	return "keys >= '" + slices.Min(rolls) + `\0' AND keys < '` + slices.Max(rolls) + `\x01'`
}

// ofContract is the condition that a row of sums is of one of these rolls and of the contract that the parameter first names.
func ofContract(rolls []string) string {
	return anyRoll(rolls, func(begin string) string { return "startsWith(keys, concat('" + begin + `', {first:String}, '\0'))` })
}

// ofContracts is the condition that a row of sums is of one of these rolls and of one of the contracts from the one that the
// parameter first names to the one that last does.
func ofContracts(rolls []string) string {
	return anyRoll(rolls, func(begin string) string {
		return "keys >= concat('" + begin + `', {first:String}, '\0') AND keys < concat('` + begin + `', {last:String}, '\x01')`
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
		*sum = int128(text[i*sumSize:])
	}
	return nil
}

// int128 is the number in the first sixteen bytes of a text.
func int128(text string) analytics.Int128 {
	return analytics.NewInt128(int64(littleEndian(text[8:])), littleEndian(text))
}

// littleEndian is the number in the first eight bytes of a text.
func littleEndian(text string) uint64 { return binary.LittleEndian.Uint64([]byte(text[:8])) }
