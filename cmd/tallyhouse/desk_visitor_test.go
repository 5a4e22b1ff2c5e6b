package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	neturl "net/url"
	"regexp"
	"strings"
	"testing"

	"tallyhouse/api/session"
)

// visitor is somebody who is signed in at a desk of their own and has no browser: for what is about answers and not about what they
// look like. A browser for each of many people takes longer than all else.
type visitor struct {
	testing.TB
	client *http.Client
	url    string
	token  string // that the session's forms bring
}

// visitor signs a person in who reads English.
func (s *deskWorld) visitor(t testing.TB, tenant, user string) *visitor {
	t.Helper()
	url, link := s.desk(t, tenant, user)
	jar, err := cookiejar.New(nil)
	s.must(err)
	v := &visitor{TB: t, url: url, client: &http.Client{Jar: jar, Timeout: startsWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	v.ask(http.MethodGet, strings.TrimPrefix(link, url), nil, "none")
	page := v.page("/projects")
	token := regexp.MustCompile(`name="?csrf"? value="([^"]+)"`).FindStringSubmatch(page)
	if token == nil {
		t.Fatalf("there is no token for %v in %s", session.User{Tenant: tenant, ID: user}, page)
	}
	v.token = token[1]
	return v
}

// send sends a request as a page of the site would. Its caller closes the body.
func (v *visitor) send(method, path string, form neturl.Values, site string) *http.Response {
	v.Helper()
	request, err := http.NewRequestWithContext(v.Context(), method, v.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", site)
	response, err := v.client.Do(request)
	if err != nil {
		v.Fatal(err)
	}
	return response
}

// ask is the status of an answer, whose body may go on for ever.
func (v *visitor) ask(method, path string, form neturl.Values, site string) (status int) {
	v.Helper()
	response := v.send(method, path, form, site)
	_ = response.Body.Close() // it was not read
	return response.StatusCode
}

// status is that of the answer at a path.
func (v *visitor) status(path string) int {
	v.Helper()
	return v.ask(http.MethodGet, path, nil, "same-origin")
}

// page is what is answered at a path, whatever the status.
func (v *visitor) page(path string) string {
	v.Helper()
	response := v.send(http.MethodGet, path, nil, "same-origin")
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		v.Fatal(err)
	}
	return string(text)
}

// post sends a form of the desk with a token, the session's own where it is empty, and gives the status.
func (v *visitor) post(path, token string, form neturl.Values) int {
	v.Helper()
	if token == "" {
		token = v.token
	}
	form.Set("csrf", token)
	return v.ask(http.MethodPost, path, form, "same-origin")
}
