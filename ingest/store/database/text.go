package database

import "strings"

// Text writes a string as a parameter of type String takes it: what is not Text could end at a line break or lose a
// backslash.
func Text(s string) string { return textEscapes.Replace(s) }

// Texts writes strings as a parameter of type Array(String) takes them.
func Texts(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = "'" + quoteEscapes.Replace(s) + "'"
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

var (
	textEscapes  = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)
	quoteEscapes = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)
)
