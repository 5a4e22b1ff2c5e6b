package demo

import "strings"

// site is where a development stands.
type site struct {
	name, city, country, workspace string
}

// The developments are invented. When the list is used up it begins again, with a stage after the name: Quartier
// Lindenhof II.
var sites = []site{
	{"Quartier Lindenhof", "Wien", "AT", "ws-wien"},
	{"Wohnen am Mühlbach", "Graz", "AT", "ws-laender"},
	{"Seeterrassen Süd", "Wien", "AT", "ws-wien"},
	{"Kontor am Alten Hafen", "Regensburg", "DE", "ws-deutschland"},
	{"Rosengasse 14", "Wien", "AT", "ws-wien"},
	{"Weinberghöfe", "Krems", "AT", "ws-laender"},
	{"Tivoligärten", "Innsbruck", "AT", "ws-laender"},
	{"Ziegelwerk Favoriten", "Wien", "AT", "ws-wien"},
	{"Isarbogen Nord", "München", "DE", "ws-deutschland"},
	{"Spinnerei Traunufer", "Linz", "AT", "ws-laender"},
	{"Kastanienhof", "Wien", "AT", "ws-wien"},
	{"Salzachpark", "Salzburg", "AT", "ws-laender"},
	{"Stadtwerkquartier", "Leipzig", "DE", "ws-deutschland"},
	{"Haus an der Stiege", "Wien", "AT", "ws-wien"},
	{"Gleisgarten", "St. Pölten", "AT", "ws-laender"},
	{"Bürohaus Prisma", "Wien", "AT", "ws-wien"},
	{"Marillenhof", "Eisenstadt", "AT", "ws-laender"},
	{"Alte Färberei", "Augsburg", "DE", "ws-deutschland"},
	{"Donaukontor", "Wien", "AT", "ws-wien"},
	{"Murblick", "Graz", "AT", "ws-laender"},
	{"Pappelallee 3-9", "Potsdam", "DE", "ws-deutschland"},
	{"Himmelmutterhöfe", "Wien", "AT", "ws-wien"},
	{"Karawankenblick", "Klagenfurt", "AT", "ws-laender"},
	{"Lagerhaus Zwölf", "Wien", "AT", "ws-wien"},
}

// Family names that sound Austrian; with the trade they make the name of a firm.
var families = []string{
	"Ostermoser", "Brandlhofer", "Kirchfeldner", "Wagramer", "Lindtaler", "Haselgrubner", "Traunfeldner",
	"Pichlwanger",
	"Sonnleithaler", "Eibensteger", "Kaltenbrucker", "Rosenauerl", "Thalhammerl", "Gschwandegger", "Marchfelder",
	"Obernreither",
	"Zwettlinger", "Hollabrucker", "Ybbstaler", "Strengbichler", "Auersthaler", "Feichtlbauer", "Grasserbach",
	"Hinterhölzl",
	"Jauchenegg", "Kobersbichl", "Lammerstorf", "Mitterndorfer", "Nussdorfler", "Ötschgraber", "Pielachtal",
	"Ranftlmoser",
	"Schneebergl", "Tullnbacher", "Unterwurz", "Vöslbrunner", "Wechselberg", "Zillinghof", "Almtaler", "Buchenrieder",
}

var austrianCities = []string{"Wien", "Graz", "Linz", "Salzburg", "Innsbruck", "Klagenfurt", "Wels", "St. Pölten",
	"Krems", "Steyr", "Wiener Neustadt", "Baden"}

var germanCities = []string{"München", "Regensburg", "Leipzig", "Augsburg", "Passau", "Potsdam", "Nürnberg", "Berlin"}

var legalForms = []string{"GmbH", "GmbH", "GmbH", "GmbH & Co KG", "KG", "e.U.", "AG"}

// workflow has the names that a project gives to the steps of its approval.
type workflow struct {
	setup, payment, paid, rejected string // paid may be empty: no step is named
	approvals                      []string
}

var workflows = []workflow{
	{"Capture", "Payment run", "Paid", "Refused", []string{"Technical check", "Cost control", "Final approval"}},
	{"Erfassung", "Zahlungslauf", "Bezahlt", "Abgelehnt", []string{"Sachliche Prüfung", "Freigabe Projektleitung",
		"Freigabe Geschäftsführung"}},
	{"Intake", "Release", "", "Rejected", []string{"1st approval (site)", "2nd approval (PM)", "3rd approval (board)"}},
}

var amendmentTitles = []string{
	"Additional reinforcement", "Changed ground conditions", "Fire doors F90", "Client's change of layout",
	"Acceleration of works", "Extended site facilities",
	"Omitted balcony cladding", "Lift shaft adaptation", "Price adjustment by index", "Additional cable routes",
	"Rock excavation", "Winter protection",
}

var explanations = []string{
	"Claim expected after site inspection", "Quantities adjusted to measurement", "Award below estimate",
	"Scope added by the authority's notice",
	"Price index for steel", "Tender result", "Schedule extension of the shell works",
	"Saving from value engineering",
}

var roman = []string{"", " II", " III", " IV", " V", " VI", " VII", " VIII", " IX", " X"}

var plain = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", " ", "-", ".", "")

// slug is a name as part of a mail address.
func slug(name string) string { return plain.Replace(strings.ToLower(name)) }
