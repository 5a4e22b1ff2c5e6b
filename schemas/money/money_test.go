package money

import "testing"

// Minor units are those of ISO 4217, also of currencies that are mostly written without decimals.
func TestDecimalsOfCurrencies(t *testing.T) {
	for code, want := range map[string]int{"EUR": 2, "JPY": 0, "KWD": 3, "RSD": 2, "HUF": 2, "ALL": 2, "IQD": 3, "UGX": 0, "CLF": 4, "UYW": 4, "": 2, "eur": 2, "QQQ": 2} {
		if got := Decimals(code); got != want {
			t.Errorf("%q has %d decimals, want %d", code, got, want)
		}
	}
	for code, n := range Unusual() {
		if n == 2 || n > MostDecimals || n != Decimals(code) {
			t.Errorf("%s has %d decimals and %d", code, n, Decimals(code))
		}
	}
}

// Given minor units, then they are written to the last one, whatever decimals and signs their form has.
func TestFormsOfAmounts(t *testing.T) {
	german, plain := Form{Minus: "\u2212", Group: ".", Point: ","}, Form{Minus: "-", Point: ","}
	for _, c := range []struct {
		minor         string
		decimals      int
		german, plain string
	}{
		{"123456", 2, "1.234,56", "1234,56"}, {"-123456789", 2, "\u22121.234.567,89", "-1234567,89"}, {"5", 2, "0,05", "0,05"},
		{"-5", 3, "\u22120,005", "-0,005"}, {"0", 2, "0,00", "0,00"}, {"1234", 0, "1.234", "1234"}, {"100", 2, "1,00", "1,00"},
		{"170141183460469231731687303715884105727", 2, "1.701.411.834.604.692.317.316.873.037.158.841.057,27",
			"1701411834604692317316873037158841057,27"},
	} {
		if got := string(german.AppendMinor(nil, c.minor, c.decimals)); got != c.german {
			t.Errorf("%s with %d decimals is %q, want %q", c.minor, c.decimals, got, c.german)
		}
		if got := string(plain.AppendMinor([]byte("x"), c.minor, c.decimals)); got != "x"+c.plain {
			t.Errorf("%s with %d decimals is %q, want %q", c.minor, c.decimals, got, "x"+c.plain)
		}
	}
	for text, want := range map[string]string{"-1146.5": "\u22121.146,5", "12": "12", "0.25": "0,25"} {
		if got := german.Number(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}
