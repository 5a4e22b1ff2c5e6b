package page

import (
	"testing"
)

func TestDaysOfPaymentTerms(t *testing.T) {
	v := testVocabulary(t)
	for in, want := range map[string]int{
		"Zahlbar innerhalb von 14 Tagen mit 2 % Skonto, 30 Tage netto.": 30, "30 Tage netto": 30, "Zahlungsziel: 14 Tage": 14,
		"Zahlbar innerhalb von 30 Tagen ohne Abzug.": 30, "Bei Zahlung innerhalb 14 Tagen gewähren wir 2,0% Skonto.": -1,
		"Net 45 days": 45, "Payment within 14 days": 14,
		"Paiement à 30 jours": 30, "Pagamento a 60 giorni": 60, "Pago a 30 días": 30, "binnen 10 Tagen 3 % Skonto": -1,
		"Lieferung innerhalb von 5 Tagen": -1,
	} {
		if got := v.termDays(fold([]rune(in))); got != want {
			t.Errorf("v.termDays(%q) = %d, want %d", in, got, want)
		}
	}
}
