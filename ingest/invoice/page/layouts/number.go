package layouts

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// numberForms is how many forms numbers have, letterNumbers how many those of letters have.
const (
	numberForms   = 21
	letterNumbers = 24
)

// numbered draws a number, of an invoice, an order or whatever else, in one of the forms that billers use.
func numbered(r *rand.Rand, form, year int, initial string) string {
	n := 1 + r.IntN(9999)
	switch form {
	case 0:
		return fmt.Sprintf("%d-%04d", year, n)
	case 1:
		return fmt.Sprintf("RE-%d-%03d", year, n%1000)
	case 2:
		return fmt.Sprintf("%d%05d", year, n)
	case 3:
		return strconv.Itoa(100 + n)
	case 4:
		return fmt.Sprintf("%d/%d", n, year%100)
	case 5:
		return fmt.Sprintf("%s%06d", initial, n*7)
	case 6:
		return fmt.Sprintf("%d/%03d", year, n%1000)
	case 7:
		return fmt.Sprintf("%s-%d-%02d", initial, year, n%100)
	case 8:
		return fmt.Sprintf("%d/%s", n%1000, initial)
	case 9:
		return fmt.Sprintf("%s%s/%d/%d", initial, "V", n%1000, year)
	case 10:
		return fmt.Sprintf("%s%d/%d", initial, year, n%1000)
	case 11:
		return fmt.Sprintf("%d%02d%02d", year, 1+n%12, 1+n%28)
	case 12:
		return fmt.Sprintf("90%08d", n*137)
	case 13:
		return fmt.Sprintf("%06d", n*3)
	case 14:
		return fmt.Sprintf("%d-%05d-%02d", year%100, n, n%7)
	case 15:
		return fmt.Sprintf("%s-%d", initial, 1000+n)
	case 16:
		return strconv.Itoa(1 + n%89)
	case 17:
		return fmt.Sprintf("%s%s%d%05d", initial, "F", 10+n%80, n*7)
	case 18:
		return fmt.Sprintf("%X-%04d", 300_000_000+n*98_765, n)
	case 19:
		return fmt.Sprintf("%02d.%03d.%03d.%d-%d", n%90, n%1000, n%733, n%10, year)
	}
	switch form {
	case 21:
		return fmt.Sprintf("%02d.%04d", year%100, n)
	case 22:
		return fmt.Sprintf("%sT %s/%d", initial, string("ABCE"[n%4]), n%1000)
	case 23:
		return fmt.Sprintf("%02d %03d %03d %02d", 10+n%90, n%1000, n*7%1000, n%100)
	}
	return fmt.Sprintf("INV%d.%03d", year%100, n%1000)
}
