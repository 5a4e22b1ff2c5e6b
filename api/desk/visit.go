package desk

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"tallyhouse/api/access"
	"tallyhouse/api/desk/language"
	"tallyhouse/api/desk/signin"
)

// visit is a request of somebody who has signed in.
type visit struct {
	desk    *Desk
	request *http.Request
	lang    *language.Language
	session signin.Session
	caller  *access.Caller // what they may see at this moment
	leave   func()         // lets others in before the answer ends, where it lasts
}

// What a screen may return beside answers; anything else is an internal error.
var (
	// errNotFound says that there is no such thing, or that the person may not see it.
	errNotFound = errors.New("not found")
	errMethod   = errors.New("the page does not take this method")
	errTooMany  = errors.New("too many requests")
	errForged   = errors.New("the form is not one of this session")
	errPanic    = errors.New("a panic, which the log tells of beside this")
)

// refusedError is what cannot be taken of a request, and why.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// text is a message in the person's language; the key must exist.
func (v *visit) text(key string, values ...any) string {
	text, err := v.lang.Text(key, values...)
	if err != nil { // a test holds all keys to the messages
		v.desk.log.Error("a message is missing", "error", err)
		return key
	}
	return text
}

// ask reads an operation of the API, as the person. The path's parts are escaped: see target.
func (v *visit) ask(target string, into any) error {
	status, body := v.desk.api.Ask(v.request.Context(), v.session.User(), target)
	switch status {
	case http.StatusOK:
		if err := json.Unmarshal(body, into); err != nil {
			return fmt.Errorf("read the answer to %s: %w", target, err)
		}
		return nil
	case http.StatusNotFound:
		return errNotFound
	case http.StatusTooManyRequests:
		return errTooMany
	case http.StatusUnauthorized:
		return access.ErrCredentials
	}
	var problem struct {
		Title, Detail string
		Errors        []struct{ Name, Reason string }
	}
	_ = json.Unmarshal(body, &problem) // the status counts
	if status != http.StatusBadRequest {
		return fmt.Errorf("the API answers %s with %d %s", target, status, problem.Title)
	}
	why := []string{cmp.Or(problem.Detail, problem.Title)}
	if len(problem.Errors) > 0 { // they say more than the detail
		why = nil
	}
	for _, e := range problem.Errors {
		why = append(why, e.Name+" "+e.Reason+".")
	}
	return &refusedError{strings.Join(why, " ")}
}

// target is the address of an operation or page: a path with segments that are escaped, and the parameters that have a value.
func target(path string, segments []string, parameters ...string) string {
	escaped := make([]any, len(segments))
	for i, s := range segments {
		escaped[i] = url.PathEscape(s)
	}
	address := fmt.Sprintf(path, escaped...)
	query := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			query.Set(parameters[i], parameters[i+1])
		}
	}
	if len(query) == 0 {
		return address
	}
	return address + "?" + query.Encode()
}

// answer is what a screen answers.
type answer interface {
	write(v *visit, w http.ResponseWriter) error
}

// view is a page, or its content alone when htmx asks for that.
type view struct {
	name    string // of the template
	title   string
	here    string
	project *project
	tab     string
	data    any
	status  int // 200 by default
	part    bool
}

func (a view) write(v *visit, w http.ResponseWriter) error {
	block := "layout"
	if a.part {
		block = "main"
	}
	body, err := v.desk.templates.render(a.name, block, page{Language: v.lang, Title: a.title, Person: v.session.UserID,
		Token: v.session.Token, Here: a.here, Inbox: v.desk.inbox != nil, Project: a.project, Tab: a.tab, Data: a.data})
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "private, no-store")
	header.Add("Vary", "Cookie, Accept-Language, HX-Request")
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = w.Write(body) // the browser may have left
	return nil
}

// redirect leads to another page of the desk, after a form has been taken.
type redirect string

func (a redirect) write(v *visit, w http.ResponseWriter) error {
	http.Redirect(w, v.request, string(a), http.StatusSeeOther)
	return nil
}

// raw is an answer that writes itself: a stream, a file. It sees to its own errors.
type raw func(w http.ResponseWriter, r *http.Request)

func (a raw) write(v *visit, w http.ResponseWriter) error {
	a(w, v.request)
	return nil
}
