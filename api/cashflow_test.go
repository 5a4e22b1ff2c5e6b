package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tallyhouse/api"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// inMay lets the API live in the first hour of May 2026 in Vienna, when it is still April elsewhere.
func inMay(o *api.Options) {
	o.Clock = func() time.Time { return time.Date(2026, 4, 30, 22, 30, 0, 0, time.UTC) }
}

func month(year, m int) calendar.Month { return calendar.NewDate(year, m, 1).Month() }

// plan stores the plan of a line of P1.
func (w *world) plan(id string, p events.LinePlan) {
	w.Helper()
	months, values := []string{}, []int64{}
	for _, m := range p.CustomMonths {
		months, values = append(months, m.Month.String()), append(values, m.Value)
	}
	w.state("line_plans", "P1", id, map[string]any{"node_id": p.NodeID, "start_date": day(p.StartDate),
		"end_date": day(p.EndDate), "method": p.Method, "custom_month": months, "custom_value": values}, nil)
}

// planned is structured with money and plans: i is phased by days, k has entered a month, s has no plan.
func planned(t testing.TB, change ...func(*api.Options)) *world {
	t.Helper()
	w := structured(t, append(change, inMay)...)
	w.budgetRow("B1", "P1", "i", 132_000)
	w.budgetRow("B2", "P1", "k", 12_000)
	w.budgetRow("B3", "P1", "s", 700)
	paid := invoice("P1", "i", "", "paid", 40_000)
	paid.CashDate = some(calendar.NewDate(2026, 4, 30))
	w.booked("R1", paid)
	w.plan("L1", events.LinePlan{NodeID: "i", Method: "linearDays", StartDate: some(calendar.NewDate(2026, 4, 1)),
		EndDate: some(calendar.NewDate(2026, 7, 31))})
	w.plan("L2", events.LinePlan{NodeID: "k", Method: "custom",
		CustomMonths: []events.MonthValue{{Month: month(2026, 6), Value: 5_000}}})
	return w
}

// Heads of the lines as everyone sees them who may see lines.
const (
	headT = `"nodeId":"t","level":"budget","code":"1","name":"Construction","parentId":null`
	headS = `"nodeId":"s","level":"subBudget","code":"01-0001","name":"Shell","parentId":"t"`
	headI = `"nodeId":"i","level":"costItem","code":"01-0001-01","name":"Concrete","parentId":"s"`
	headK = `"nodeId":"k","level":"subBudget","code":"01-0002","name":"Roof","parentId":"t"`
	flow  = `{"projectId":"P1","currency":"EUR","asOf":"2026-05"`
)

// flowNode is a line; values are of the months from the first on, those before May 2026 paid.
func flowNode(head, first string, values []int, undated, gap int, flags string) string {
	months := make([]string, len(values))
	at, _ := calendar.ParseMonth(first)
	for i, v := range values {
		actual, forecast := 0, v
		if at < month(2026, 5) {
			actual, forecast = v, 0
		}
		months[i] = fmt.Sprintf(`{"month":"%s","actual":%d,"forecast":%d}`, at, actual, forecast)
		at++
	}
	return fmt.Sprintf(`{%s,"months":[%s],"undated":%d,"gap":%d,"flags":[%s]}`, head, strings.Join(months, ","), undated, gap, flags)
}

func TestACashFlowIsShownInFull(t *testing.T) {
	// Given
	w := planned(t)
	works := []int{40_000, 31_000, 35_000, 31_000}
	shell := []int{40_000, 31_000, 30_000, 31_000}
	top := func(first string, values []int) string {
		return flowNode(headT, first, values, 700, 7_000, `"undated","customGap"`)
	}
	for query, want := range map[string]string{
		"": top("2026-04", works) + "," + flowNode(headS, "2026-04", shell, 700, 0, `"undated"`) + "," +
			flowNode(headI, "2026-04", shell, 0, 0, "") + "," + flowNode(headK, "2026-04", []int{0, 0, 5_000, 0}, 0, 7_000, `"customGap"`),
		"?level=subBudget": top("2026-04", works) + "," + flowNode(headS, "2026-04", shell, 700, 0, `"undated"`) + "," +
			flowNode(headK, "2026-04", []int{0, 0, 5_000, 0}, 0, 7_000, `"customGap"`),
		// Months are cut, and nothing else
		"?level=budget&from=2026-06&to=2026-08": top("2026-06", []int{35_000, 31_000, 0}),
		"?level=budget&from=2026-06":            top("2026-06", []int{35_000, 31_000}),
		"?level=budget&to=2026-04":              top("2026-04", []int{40_000}),
		"?level=budget&from=2026-08":            top("2026-08", nil),
		"?level=budget&to=2026-03":              top("2026-03", nil),
		"?level=budget&to=0001-01":              top("2026-03", nil),
		"?level=budget&from=2299-12&to=2299-12": top("2299-12", []int{0}),
	} {
		// When
		got := w.get(adminKey, "/v0/projects/P1/cashflow"+query).want(t, 200, "")
		// Then
		want = flow + `,"nodes":[` + want + "]}"
		if string(got.body) != want {
			t.Errorf("%s: got\n%s\nwant\n%s", query, got.body, want)
		}
	}
}

func TestTheMonthsOfACashFlowAreBounded(t *testing.T) {
	w := planned(t)
	for query, wrong := range map[string]string{
		"from=2026-06&to=2026-05": "from", "from=2000-01&to=2050-01": "from", "from=0001-01": "from", "from=0001-01&to=9999-12": "from",
		"to=9999-12": "to", "level=top": "level", "level=Budget": "level", "from=2026-13": "from", "to=2026-5": "to", "from=": "from",
		"asOf=2026-05": "asOf", "limit=1": "limit",
	} {
		r := w.get(adminKey, "/v0/projects/P1/cashflow?"+query).want(t, 400, "invalid-query")
		if got := r.wrong(); len(got) != 1 || got[wrong] == "" || r.json["detail"] == nil {
			t.Errorf("%s: %v is wrong, want %s", query, got, wrong)
		}
	}
	r := w.get(adminKey, "/v0/projects/P1/cashflow?level=budget&from=2000-01&to=2049-12").want(t, 200, "")
	if got := len(r.json["nodes"].([]any)[0].(map[string]any)["months"].([]any)); got != 600 {
		t.Errorf("%d months", got)
	}
	far := w.get(adminKey, "/v0/projects/P1/cashflow?level=budget&from=9999-11&to=9999-12").want(t, 200, "")
	if !strings.Contains(string(far.body),
		`"months":[{"month":"9999-11","actual":0,"forecast":0},{"month":"9999-12","actual":0,"forecast":0}]`) {
		t.Errorf("got %s", far.body)
	}
	// What cannot be seen is not checked first: a project that is not there is not there.
	w.get(adminKey, "/v0/projects/P9/cashflow?from=0001-01").want(t, 404, "not-found")
}

func TestDatesFarAwayDoNotMakeACashFlowLong(t *testing.T) {
	// Given a payment and a plan at both ends of the calendar
	w := planned(t)
	paid := invoice("P1", "k", "", "paid", 1_000)
	paid.CashDate = some(calendar.MinDate)
	w.booked("R2", paid)
	w.budgetRow("B4", "P1", "t", 6_000_000)
	w.plan("L3", events.LinePlan{NodeID: "t", Method: "linearMonths", StartDate: some(calendar.MinDate), EndDate: some(calendar.MaxDate)})
	months := func(query string) []any {
		r := w.get(adminKey, "/v0/projects/P1/cashflow?level=budget"+query).want(t, 200, "")
		return r.json["nodes"].([]any)[0].(map[string]any)["months"].([]any)
	}
	// When nothing else is asked for, then the months around the current one are listed
	if got := months(""); len(got) != 600 || got[0].(map[string]any)["month"] != "2001-05" {
		t.Errorf("%d months from %v on", len(got), got[0])
	}
	// And each month can be had.
	if got := months("&from=1900-01&to=1900-01")[0].(map[string]any); got["actual"] != 1000.0 {
		t.Errorf("got %v", got)
	}
	if got := months("&from=2299-12")[0].(map[string]any); got["forecast"].(float64) < 1000 {
		t.Errorf("got %v", got)
	}
}

func TestWhoSeesWhatOfACashFlow(t *testing.T) {
	// Given callers with one of the groups, with none, and with both
	w := planned(t)
	bare := `,"nodes":[{` + headT + `},{` + headS + `},{` + headI + `},{` + headK + `}]}`
	for name, c := range map[string]struct {
		groups []string
		want   string
	}{
		"lines":   {[]string{"budget"}, flow + bare},
		"amounts": {[]string{"amounts", "payment"}, flow + "}"},
		"neither": {[]string{"core"}, flow + "}"},
	} {
		key := "pk_test_" + name + "_secret"
		w.key("U-admin", key, func(k *events.Key) { k.Groups = some(c.groups) })
		w.seen(key, "P1")
		for _, query := range []string{"", "?from=2026-06&to=2026-06", "?from=2027-01"} {
			if got := w.get(key, "/v0/projects/P1/cashflow"+query).want(t, 200, ""); string(got.body) != c.want {
				t.Errorf("%s%s: %s", name, query, got.body)
			}
		}
	}
	w.user("U-guest", guestKey, "guest")
	w.seen(guestKey, "P1")
	if got := w.get(guestKey, "/v0/projects/P1/cashflow").want(t, 200, ""); string(got.body) != flow+"}" {
		t.Errorf("a guest sees %s", got.body)
	}
}

// Whole numbers are exact, whatever amounts may be.
func TestACashFlowIsExactBeyondTheRangeOfAmounts(t *testing.T) {
	w := structured(t, inMay)
	const most = 9007199254740991
	for i := range 3 {
		w.budgetRow(fmt.Sprint("B", i), "P1", "i", most)
	}
	w.budgetRow("B3", "P1", "k", 2)
	got := w.get(adminKey, "/v0/projects/P1/cashflow?level=budget").want(t, 200, "")
	want := flow + `,"nodes":[` + flowNode(headT, "2026-05", []int{0}, 3*most+2, 0, `"undated"`) + "]}"
	if string(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
}
