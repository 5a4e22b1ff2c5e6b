package demo

// taxClass is how the works and supplies of a trade are taxed.
type taxClass uint8

const (
	standardRate  taxClass = iota // 20 % in Austria, 19 % in Germany
	reducedRate                   // 10 %, 7 %
	taxFree                       // fees, insurance, interest
	reverseCharge                 // building works: the recipient owes the tax, the invoice shows none
)

// percent is the rate by country.
func (c taxClass) percent(country string) int64 {
	switch c {
	case standardRate:
		if country == "DE" {
			return 19
		}
		return 20
	case reducedRate:
		if country == "DE" {
			return 7
		}
		return 10
	}
	return 0
}

// trade is what a contractor does, and how its invoices look.
type trade struct {
	word     string // in the firm's name
	form     string // legal form; empty: one of several
	tax      taxClass
	scale    int64 // of amounts, in tenths of the usual
	contract int   // how many lines in ten thousand are put under contract
}

// The trades, by the order of the table below.
const (
	notary = iota
	broker
	surveyor
	geotechnics
	demolition
	utilities
	roads
	earthworks
	piling
	concrete
	carpentry
	roofing
	climate
	plumbing
	electrics
	lifts
	fireSafety
	automation
	facades
	windows
	screed
	drywall
	tiling
	flooring
	painting
	joinery
	metalwork
	kitchens
	gardens
	architecture
	structuralDesign
	servicesDesign
	buildingPhysics
	supervision
	projectManagement
	authority
	insurance
	security
	cleaning
	marketing
	lawyer
	taxAdvice
	bank
)

var trades = [...]trade{
	notary:            {"Notariat", "KG", standardRate, 12, 0},
	broker:            {"Immobilien", "", standardRate, 20, 2000},
	surveyor:          {"Vermessung", "ZT GmbH", standardRate, 4, 3000},
	geotechnics:       {"Geotechnik", "", standardRate, 6, 4000},
	demolition:        {"Abbruch", "", reverseCharge, 18, 8000},
	utilities:         {"Energienetze", "GmbH", standardRate, 15, 3500},
	roads:             {"Straßenbau", "", reverseCharge, 16, 7500},
	earthworks:        {"Tiefbau", "", reverseCharge, 26, 9000},
	piling:            {"Spezialtiefbau", "", reverseCharge, 28, 9000},
	concrete:          {"Hochbau", "", reverseCharge, 40, 9500},
	carpentry:         {"Zimmerei", "", reverseCharge, 14, 8000},
	roofing:           {"Dach und Spengler", "", reverseCharge, 14, 8500},
	climate:           {"Klima und Lüftung", "", reverseCharge, 24, 9000},
	plumbing:          {"Installationen", "", reverseCharge, 18, 9000},
	electrics:         {"Elektrotechnik", "", reverseCharge, 22, 9000},
	lifts:             {"Aufzüge", "", reverseCharge, 15, 9000},
	fireSafety:        {"Brandschutz", "", reverseCharge, 7, 7000},
	automation:        {"Gebäudeautomation", "", reverseCharge, 11, 7500},
	facades:           {"Fassaden", "", reverseCharge, 25, 9000},
	windows:           {"Fensterbau", "", reverseCharge, 20, 9000},
	screed:            {"Estriche", "", reverseCharge, 9, 8000},
	drywall:           {"Trockenbau", "", reverseCharge, 13, 8500},
	tiling:            {"Fliesen", "", reverseCharge, 8, 7500},
	flooring:          {"Böden", "", reverseCharge, 10, 7500},
	painting:          {"Malerei", "", reverseCharge, 7, 7500},
	joinery:           {"Tischlerei", "", reverseCharge, 9, 7500},
	metalwork:         {"Metallbau", "", reverseCharge, 11, 8000},
	kitchens:          {"Küchen", "", standardRate, 8, 5000},
	gardens:           {"Gartengestaltung", "", reducedRate, 9, 6500},
	architecture:      {"Architekten", "ZT GmbH", standardRate, 14, 9500},
	structuralDesign:  {"Tragwerksplanung", "ZT GmbH", standardRate, 9, 9500},
	servicesDesign:    {"Haustechnikplanung", "ZT GmbH", standardRate, 8, 9000},
	buildingPhysics:   {"Bauphysik", "ZT GmbH", standardRate, 4, 8500},
	supervision:       {"Bauaufsicht", "ZT GmbH", standardRate, 9, 9000},
	projectManagement: {"Projektsteuerung", "", standardRate, 10, 9000},
	authority:         {"Gebührenstelle", "-", taxFree, 4, 0},
	insurance:         {"Versicherung", "AG", taxFree, 6, 1500},
	security:          {"Bewachung", "", standardRate, 3, 4500},
	cleaning:          {"Baureinigung", "", reverseCharge, 2, 4000},
	marketing:         {"Kommunikation", "", standardRate, 5, 4500},
	lawyer:            {"Rechtsanwälte", "OG", standardRate, 6, 1500},
	taxAdvice:         {"Steuerberatung", "", standardRate, 3, 2000},
	bank:              {"Bank", "AG", taxFree, 12, 0},
}
