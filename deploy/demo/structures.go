package demo

// The two budget structures that the company's projects share, in the order of the Austrian cost groups. A group
// without items is a cost line itself: the residential structure has three levels, the commercial one two.

type chapter struct {
	name   string
	groups []group
}

type group struct {
	name  string
	items []item
	line  item // when there are no items
}

// item is a cost line: which trade invoices it, how often compared with others, and in which phases of a project's
// life.
type item struct {
	name     string
	trade    int
	weight   uint32
	from, to uint8 // 0..4, both included
	retired  bool  // taken out of the structure later
}

var residential = []chapter{
	{"Land", []group{
		{name: "Purchase", items: []item{
			{"Purchase price", notary, 2, 0, 0, false}, {"Transfer tax and land register", authority, 3, 0, 0, false},
			{"Brokerage", broker, 2, 0, 0, false}}},
		{name: "Preparation", items: []item{
			{"Survey", surveyor, 6, 0, 2, false}, {"Soil report", geotechnics, 5, 0, 1, false},
			{"Demolition", demolition, 8, 0, 1, false},
			{"Interim use of the old building", security, 3, 0, 0, true}}},
	}},
	{"Site development", []group{
		{name: "Connections", items: []item{
			{"Water and sewer", utilities, 6, 0, 3, false}, {"Power supply", utilities, 6, 0, 3, false},
			{"District heating", utilities, 5, 1, 3, false}}},
		{name: "Roads", items: []item{
			{"Access roads", roads, 7, 0, 4, false}, {"Site facilities", concrete, 9, 0, 4, false}}},
	}},
	{"Structural works", []group{
		{name: "Earthworks and foundations", items: []item{
			{"Excavation", earthworks, 16, 0, 1, false}, {"Piling", piling, 10, 0, 1, false},
			{"Dewatering", piling, 6, 0, 2, false}}},
		{name: "Shell", items: []item{
			{"Concrete works", concrete, 34, 0, 3, false}, {"Masonry", concrete, 16, 1, 3, false},
			{"Prefabricated parts", concrete, 12, 1, 3, false}}},
		{name: "Roof", items: []item{
			{"Carpentry", carpentry, 10, 1, 3, false}, {"Roofing and sheet metal", roofing, 12, 1, 4, false}}},
	}},
	{"Building services", []group{
		{name: "Heating, ventilation, sanitary", items: []item{
			{"Heating", climate, 18, 1, 4, false}, {"Ventilation", climate, 14, 1, 4, false},
			{"Sanitary", plumbing, 20, 1, 4, false}}},
		{name: "Electrical", items: []item{
			{"Power and lighting", electrics, 22, 1, 4, false}, {"Low voltage", electrics, 10, 1, 4, false},
			{"Photovoltaics", electrics, 8, 2, 4, false}}},
		{name: "Conveying and safety", items: []item{
			{"Lifts", lifts, 9, 2, 4, false}, {"Fire protection", fireSafety, 8, 1, 4, false},
			{"Building automation", automation, 7, 2, 4, false}}},
	}},
	{"Fit-out", []group{
		{name: "Envelope", items: []item{
			{"Facade", facades, 20, 1, 4, false}, {"Windows", windows, 16, 1, 4, false},
			{"Metalwork", metalwork, 12, 1, 4, false}}},
		{name: "Interior", items: []item{
			{"Screed", screed, 10, 2, 4, false}, {"Drywall", drywall, 18, 2, 4, false},
			{"Tiling", tiling, 12, 2, 4, false},
			{"Parquet", flooring, 12, 2, 4, false}, {"Painting", painting, 14, 2, 4, false},
			{"Doors", joinery, 12, 2, 4, false}}},
	}},
	{"Furnishing", []group{
		{name: "Common areas", items: []item{
			{"Kitchens", kitchens, 6, 3, 4, false}, {"Letter boxes and signage", metalwork, 4, 3, 4, false}}},
	}},
	{"External works", []group{
		{name: "Grounds", items: []item{
			{"Gardens", gardens, 10, 3, 4, false}, {"Paving", roads, 8, 3, 4, false},
			{"Playground", gardens, 4, 3, 4, false}}},
	}},
	{"Design", []group{
		{name: "Architects", items: []item{
			{"Architecture", architecture, 22, 0, 4, false}, {"Competition", architecture, 3, 0, 0, true}}},
		{name: "Engineers", items: []item{
			{"Structural design", structuralDesign, 14, 0, 4, false},
			{"Services design", servicesDesign, 14, 0, 4, false},
			{"Building physics", buildingPhysics, 8, 0, 4, false}}},
	}},
	{"Ancillary costs", []group{
		{name: "Management", items: []item{
			{"Project management", projectManagement, 16, 0, 4, false},
			{"Site supervision", supervision, 14, 0, 4, false}}},
		{name: "Fees and insurance", items: []item{
			{"Permits", authority, 12, 0, 4, false}, {"Insurance", insurance, 7, 0, 4, false},
			{"Legal advice", lawyer, 10, 0, 4, false}}},
		{name: "Running of the site", items: []item{
			{"Security", security, 16, 0, 4, false}, {"Cleaning", cleaning, 14, 1, 4, false},
			{"Temporary power", utilities, 12, 0, 4, false}}},
	}},
	{"Marketing and sales", []group{
		{name: "Sales", items: []item{
			{"Campaign", marketing, 14, 1, 4, false}, {"Show flat", kitchens, 4, 2, 4, false},
			{"Sales commission", broker, 8, 2, 4, false}}},
	}},
	{"Finance", []group{
		{name: "Bank", items: []item{{"Interest", bank, 6, 0, 4, false}, {"Bank fees", bank, 8, 0, 4, false}}},
	}},
	{"Reserves", []group{
		{name: "Contingency", items: []item{{"Unforeseen", projectManagement, 0, 0, 4, false}}},
	}},
}

var commercial = []chapter{
	{"Land", []group{
		{name: "Purchase", line: item{"", notary, 2, 0, 0, false}},
		{name: "Purchase ancillary", line: item{"", authority, 4, 0, 0, false}},
		{name: "Site preparation", line: item{"", demolition, 9, 0, 1, false}},
	}},
	{"Building", []group{
		{name: "Earthworks", line: item{"", earthworks, 18, 0, 1, false}},
		{name: "Special foundations", line: item{"", piling, 10, 0, 1, false}},
		{name: "Shell", line: item{"", concrete, 44, 0, 3, false}},
		{name: "Roof", line: item{"", roofing, 12, 1, 4, false}},
		{name: "Facade", line: item{"", facades, 28, 1, 4, false}},
		{name: "Interior", line: item{"", drywall, 34, 2, 4, false}},
		{name: "Floors", line: item{"", flooring, 16, 2, 4, false}},
		{name: "Metal and glass", line: item{"", metalwork, 16, 1, 4, false}},
	}},
	{"Services", []group{
		{name: "Heating and cooling", line: item{"", climate, 30, 1, 4, false}},
		{name: "Sanitary", line: item{"", plumbing, 16, 1, 4, false}},
		{name: "Electrical", line: item{"", electrics, 30, 1, 4, false}},
		{name: "Lifts", line: item{"", lifts, 10, 2, 4, false}},
		{name: "Automation", line: item{"", automation, 12, 2, 4, false}},
		{name: "Sprinklers", line: item{"", fireSafety, 10, 1, 4, false}},
		{name: "Telephone exchange", line: item{"", electrics, 3, 0, 1, true}},
	}},
	{"Tenants", []group{
		{name: "Tenant fit-out", line: item{"", drywall, 20, 3, 4, false}},
		{name: "Letting", line: item{"", broker, 10, 2, 4, false}},
		{name: "Marketing", line: item{"", marketing, 16, 1, 4, false}},
	}},
	{"Outside", []group{
		{name: "Roads and parking", line: item{"", roads, 12, 2, 4, false}},
		{name: "Gardens", line: item{"", gardens, 8, 3, 4, false}},
	}},
	{"Professional fees", []group{
		{name: "Architect", line: item{"", architecture, 24, 0, 4, false}},
		{name: "Structure", line: item{"", structuralDesign, 14, 0, 4, false}},
		{name: "Services design", line: item{"", servicesDesign, 16, 0, 4, false}},
		{name: "Supervision", line: item{"", supervision, 14, 0, 4, false}},
		{name: "Project management", line: item{"", projectManagement, 18, 0, 4, false}},
		{name: "Law and tax", line: item{"", taxAdvice, 14, 0, 4, false}},
	}},
	{"Other costs", []group{
		{name: "Permits", line: item{"", authority, 14, 0, 4, false}},
		{name: "Insurance", line: item{"", insurance, 7, 0, 4, false}},
		{name: "Site running", line: item{"", security, 22, 0, 4, false}},
		{name: "Interest and bank fees", line: item{"", bank, 12, 0, 4, false}},
		{name: "Contingency", line: item{"", projectManagement, 0, 0, 4, false}},
	}},
}

// What a single project may have in addition; the number is the chapter it goes under in both structures.
var specials = []struct {
	chapter int
	line    item
}{
	{0, item{"Archaeology", geotechnics, 5, 0, 1, false}}, {0, item{"Contaminated soil", demolition, 6, 0, 1, false}},
	{1, item{"Tram stop contribution", roads, 4, 1, 3, false}},
	{2, item{"Listed stucco facade", facades, 7, 1, 4, false}},
	{3, item{"Ice storage", climate, 6, 2, 4, false}}, {4, item{"Anchor tenant's fit-out", drywall, 8, 3, 4, false}},
	{5, item{"Art in the stairwells", joinery, 3, 3, 4, false}},
	{6, item{"Neighbours' evidence", surveyor, 4, 0, 2, false}},
}
