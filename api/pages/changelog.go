package pages

import (
	"slices"
	"strings"
)

// release is a version of the interface's description and what it added (docs/api.md#versions).
type release struct {
	Version string   `json:"version"`
	Added   []string `json:"added"` // with `code` in backticks
}

// releases are all versions, the newest last.
func releases() []release {
	return []release{
		{"0.1.0", []string{
			"Projects: `listProjects`, `getProject`.",
			"Budgets with amounts that include everything below a line: `getProjectBudget`.",
			"The ledger's records: `listRecords`, `getRecord`.",
			"Contractors: `listContractors`.",
		}},
		{"0.1.1", []string{
			"Filters of records: `cashDateFrom`, `cashDateTo`, `hasCashDate`, `source`.",
			"Parameters of records: `fields` and `count`.",
			"Members: `documents[].kind` of records, `invoicedByStatus`, `invoicedGross` and `paidGross` of budget lines.",
			"The value `accrual` of a record's `source`.",
			"The header `Link` with `rel=\"feedback\"`.",
		}},
		{"0.1.2", []string{
			"`accountingCodes` on budget lines and records, and the field group `accounting` that shows them.",
			"Filter of records: `accountingCode`.",
		}},
		{"0.1.3", []string{
			"Contracts: `listContracts`, `getContract`.",
			"Members of budget lines: `committed`, `openCommitment`, `overInvoiced`, `pendingChanges`, `uncommitted`, " +
				"`uncommittedDefaulted`; `excludedCommitted` of budgets.",
		}},
		{"0.1.4", []string{
			"Members of budget lines: `eac`, `variance`, `costToComplete`.",
			"Budgets as a month-end forecast froze them, by `asOf`, and the forecasts themselves: `listForecastSnapshots`, " +
				"`getForecastSnapshot`.",
			"Cash flows: `getCashflow`.",
			"Units and rent rolls: `listUnits`, `getRentRoll`.",
			"Loan facilities with their schedules and drawdowns, in the field group `financial`: `listFacilities`, " +
				"`getFacilitySchedule`, `listFacilityDrawdowns`.",
		}},
	}
}

// Version is that of the interface's description (docs/api.md#versions).
func Version() string {
	all := releases()
	return all[len(all)-1].Version
}

const compatibility = "All changes so far are additions: what was there has not changed. A client that ignores members, " +
	"parameters and values that it doesn't know keeps working."

// Changelog lists the versions, the newest first, as HTML, JSON or Markdown, whichever the Accept header likes best.
func Changelog(accept string) (Page, error) {
	const title = "Changes of the interface"
	all := releases()
	slices.Reverse(all)
	switch preferred(accept, "application/json", "text/html", "text/markdown") {
	case "text/html":
		body := "<p>" + compatibility + "</p>\n"
		for _, r := range all {
			body += "<h2>" + r.Version + "</h2>" + listHTML(r.Added)
		}
		return htmlPage(title, body), nil
	case "text/markdown":
		text := "# " + title + "\n\n" + compatibility + "\n"
		for _, r := range all {
			text += "\n## " + r.Version + "\n\n- " + strings.Join(r.Added, "\n- ") + "\n"
		}
		return newPage(typeMarkdown, []byte(text)), nil
	}
	return jsonPage(map[string]any{"compatibility": compatibility, "versions": all})
}
