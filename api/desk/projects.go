package desk

// amount is an amount of the API: minor units of a currency.
type amount struct {
	Value    int64  `json:"value"`
	Currency string `json:"currency"`
}

// project is what the API shows of a project.
type project struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	InboundEmail string `json:"inboundEmail"` // "" when there is none, or the person may not see it
}

// figures are the screens of what the ledger adds up to.
func (d *Desk) figures() []route {
	return []route{
		{"GET /projects", showProjects},
	}
}

// project is the one that the request's path names.
func (v *visit) project() (*project, error) {
	var p project
	if err := v.ask(target("/v0/projects/%s", []string{v.request.PathValue("project")}), &p); err != nil {
		return nil, err
	}
	return &p, nil
}

// showProjects lists the projects. The figures of each come when it is scrolled to.
func showProjects(v *visit) (answer, error) {
	var list struct{ Data []project }
	if err := v.ask("/v0/projects", &list); err != nil {
		return nil, err
	}
	return view{name: "projects", title: v.text("projects.title"), here: "projects", data: list.Data}, nil
}
