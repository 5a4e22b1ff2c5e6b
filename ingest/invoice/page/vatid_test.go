package page

import (
	"testing"
)

func TestVATIDs(t *testing.T) {
	v := testVocabulary(t)
	cases := []struct {
		in, value string
		valid     bool
	}{
		{"ATU12345675", "ATU12345675", true}, {"ATU12345678", "ATU12345678", false}, {"DE136695976", "DE136695976", true},
		{"DE 136 695 976", "DE136695976", true},
		{"DE123456789", "DE123456789", false}, {"CHE-116.281.710 MWST", "CHE116281710", true}, {"FR40303265045", "FR40303265045", true},
		{"FR 40 303 265 045", "FR40303265045", true},
		{"IT00743110157", "IT00743110157", true}, {"ESB58378431", "ESB58378431", true}, {"NL004495445B01", "NL004495445B01", true},
		{"GB980780684", "GB980780684", true}, {"FR 403 032 650 45", "FR40303265045", true},
		{"27AAPFU0939F1ZV", "27AAPFU0939F1ZV", true}, {"27AAPFU0939F1ZW", "27AAPFU0939F1ZW", false},
		{"PL8567346215", "PL8567346215", true}, {"BE0428759497", "BE0428759497", true}, {"LU15027442", "LU15027442", true},
		{"SE556188840401", "SE556188840401", true},
		{"PT501964843", "PT501964843", true}, {"DK13585628", "DK13585628", true}, {"FI20774740", "FI20774740", true},
		{"SI50223054", "SI50223054", true},
		{"BG175074752", "BG175074752", true}, {"BG175074751", "BG175074751", false}, {"CY10259033P", "CY10259033P", true},
		{"CY10259033Z", "CY10259033Z", false}, {"CZ25123891", "CZ25123891", true}, {"CZ25123890", "CZ25123890", false},
		{"EE100931558", "EE100931558", true}, {"EE100594103", "EE100594103", false}, {"EL094259216", "EL094259216", true},
		{"EL123456781", "EL123456781", false}, {"HU12892312", "HU12892312", true}, {"HU12892313", "HU12892313", false},
		{"IE6433435F", "IE6433435F", true}, {"IE6433435OA", "IE6433435OA", true}, {"IE8D79739I", "IE8D79739I", true},
		{"IE6433435E", "IE6433435E", false}, {"LT119511515", "LT119511515", true}, {"LT100001919017", "LT100001919017", true},
		{"LT100001919018", "LT100001919018", false},
		{"LV40003521600", "LV40003521600", true}, {"LV40003521601", "LV40003521601", false}, {"MT11679112", "MT11679112", true},
		{"MT11679113", "MT11679113", false}, {"RO18547290", "RO18547290", true}, {"RO18547291", "RO18547291", false},
		{"SK2022749619", "SK2022749619", true}, {"SK2022749618", "SK2022749618", false}, {"NO 988 077 917 MVA", "NO988077917MVA", true},
		{"HR33392005961", "HR33392005961", true}, {"NL123456789B13", "NL123456789B13", true},
		{"AT-U12345675", "ATU12345675", true}, {"BE 0428.759.497", "BE0428759497", true}, {"DE-136695976", "DE136695976", true},
		{"DK 13 58 56 28", "DK13585628", true}, {"NL 0044.95.445.B01", "NL004495445B01", true},
		{"PT 501 964 843", "PT501964843", true}, {"SE 556188-8404 01", "SE556188840401", true}, {"GB 980 780 684", "GB980780684", true},
	}
	for _, c := range cases {
		got := v.vatIDs(fold([]rune(c.in)))
		if len(got) != 1 || got[0].value != c.value || got[0].valid != c.valid {
			t.Errorf("v.vatIDs(%q) = %+v, want %s valid %v", c.in, got, c.value, c.valid)
		}
	}
	label := v.vatLabel.FindStringIndex("partita iva e cod. fisc. 02411877901")
	if label == nil || label[1] != len("partita iva e cod. fisc. ") {
		t.Errorf("the label of two ids ends at %v", label)
	}
	for _, in := range []string{"IBAN DE75 1234 5678 0000 0012 34", "Rechnung 136695976", "D-63571"} {
		if got := v.vatIDs(fold([]rune(in))); len(got) != 0 {
			t.Errorf("v.vatIDs(%q) = %+v, want none", in, got)
		}
	}
}
