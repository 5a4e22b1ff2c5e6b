package api

import (
	"context"
	"encoding/binary"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/cursor"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

var listFacilities = operation{
	id: "listFacilities", path: "/v0/projects/{projectId}/facilities",
	summary: "List loan facilities",
	description: "The loan facilities that finance the project, ascending by id: those of which the caller may see every " +
		"project that they finance, with the field group financial.",
	params:  paging,
	lists:   reader.FacilitiesTable,
	returns: list(facilityTable.Reference()),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		project, ok := c.caller.Project(c.path["projectId"])
		if !ok {
			return nil, reader.ErrNotFound
		}
		var facilities []reader.Facility
		var more bool
		if project.Groups.Has(access.Financial) {
			var err error
			facilities, more, err = c.reader.Facilities(ctx, reader.FacilityPage{
				Tenant: c.caller.Tenant(), ProjectID: project.ID, Projects: c.financed(),
				After: c.after, Limit: c.limit(), Today: c.today,
			})
			if err != nil {
				return nil, err
			}
		}
		return writePage(s, c, page[reader.Facility]{items: facilities, more: more,
			place: byID(func(v *reader.Facility) string { return v.ID }),
			write: shown(facilityTable, func(v *reader.Facility) access.Groups { return c.facilityGroups(&v.Facility) })}), nil
	},
}

var getFacilitySchedule = operation{
	id: "getFacilitySchedule", path: "/v0/facilities/{facilityId}/schedule",
	summary: "Get the schedule of a loan facility",
	description: "The interest periods of a facility with rate, interest, commitment fee and balance. Rates that are not " +
		"fixed yet are projected.",
	params: []query.Param{
		{Name: "to", Type: query.Date(),
			Description: "Periods that begin before this date, each of them whole; all of them without it."},
		{Name: "includePlanned", Type: query.Boolean(),
			Description: "True: requested and planned drawdowns and repayments count too, those of past days today."},
	},
	returns: scheduleTable.Reference(),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		facility, groups, err := s.facility(ctx, c)
		if err != nil {
			return nil, err
		}
		periods, err := c.reader.FacilitySchedule(ctx, c.caller.Tenant(), &facility, analytics.ScheduleRequest{
			To: query.Value[calendar.Date](c.values, "to"), Today: c.today,
			IncludePlanned: query.Value[bool](c.values, "includePlanned").V,
		})
		if err != nil {
			return nil, err
		}
		return writeOne(scheduleTable, groups, &schedule{&facility, periods}), nil
	},
}

var listFacilityDrawdowns = operation{
	id: "listFacilityDrawdowns", path: "/v0/facilities/{facilityId}/drawdowns",
	summary: "List drawdowns and repayments",
	description: "The drawdowns, repayments and capitalised interest of a loan facility, planned, requested or funded, by " +
		"date, then by id.",
	params:  paging,
	lists:   reader.FacilityEntriesTable,
	rank:    entryRankSize,
	returns: list(facilityEntryTable.Reference()),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		facility, groups, err := s.facility(ctx, c)
		if err != nil {
			return nil, err
		}
		wanted := reader.FacilityEntryPage{Tenant: c.caller.Tenant(), FacilityID: facility.ID, Limit: c.limit()}
		if c.rank != "" {
			date, err := entryDate(c.rank)
			if err != nil {
				return nil, err
			}
			wanted.After = events.Some(reader.FacilityEntryPlace{Date: date, ID: c.after})
		}
		entries, more, err := c.reader.FacilityEntries(ctx, wanted)
		if err != nil {
			return nil, err
		}
		items := make([]facilityEntry, len(entries))
		for i, e := range entries {
			items[i] = facilityEntry{e, facility.Currency}
		}
		return writePage(s, c, page[facilityEntry]{items: items, more: more,
			place: func(v *facilityEntry) (rank, id string) { return entryPlace(&v.FacilityEntry) },
			write: shown(facilityEntryTable, func(*facilityEntry) access.Groups { return groups })}), nil
	},
}

// facility finds the facility that the call names, and what the caller may see of it.
func (s *Server) facility(ctx context.Context, c *call) (analytics.Facility, access.Groups, error) {
	f, err := c.reader.Facility(ctx, c.caller.Tenant(), c.path["facilityId"], c.financed())
	if err != nil {
		return f, access.None, err
	}
	return f, c.facilityGroups(&f), nil
}

// financed are the projects whose loans the caller may see.
func (c *call) financed() []reader.FinancedProject {
	var projects []reader.FinancedProject
	for _, p := range c.caller.Projects() {
		if p.Groups.Has(access.Financial) {
			projects = append(projects, reader.FinancedProject{ProjectRef: projectRef(p), Currency: p.Currency})
		}
	}
	return projects
}

// facilityGroups are the groups that the caller has in every project that the facility finances.
func (c *call) facilityGroups(f *analytics.Facility) access.Groups {
	groups := access.All
	for _, id := range f.ProjectIDs {
		p, _ := c.caller.Project(id)
		groups &= p.Groups
	}
	return groups
}

// An entry is placed by its date, and by its id within a day.
const entryRankSize = 4

func entryPlace(e *analytics.FacilityEntry) (rank, id string) {
	return string(binary.BigEndian.AppendUint32(nil, uint32(e.Date))), e.ID
}

func entryDate(rank string) (calendar.Date, error) {
	if len(rank) != entryRankSize {
		return 0, cursor.ErrInvalid
	}
	return calendar.Date(int32(binary.BigEndian.Uint32([]byte(rank)))), nil
}

// schedule is a facility with its interest periods.
type schedule struct {
	*analytics.Facility
	periods []analytics.FacilityPeriod
}

var scheduleTable = resource.NewTable("FacilitySchedule", "The interest periods of a loan facility.",
	resource.Field[schedule]{Name: "facilityId", Groups: access.Financial,
		Value: resource.Text(func(s *schedule) string { return s.ID })},
	resource.Field[schedule]{Name: "currency", Groups: access.Financial,
		Value: resource.Currency(func(s *schedule) string { return s.Currency })},
	resource.Field[schedule]{Name: "dayCount", Groups: access.Financial,
		Value:       resource.Text(func(s *schedule) string { return s.DayCount }).OneOf("ACT/360", "ACT/365", "30/360"),
		Description: "30/360 is 30E/360."},
	resource.Field[schedule]{Name: "periods", Groups: access.Financial,
		Value: resource.List(periodTable, schedulePeriods), Description: "By date, from the start of the availability."},
)
