package desk

import (
	"net/http"
	"testing"

	"tallyhouse/api/desk/signin"
)

// Programs look at links by HEAD before people open them: what signs in once is still there afterwards.
func TestALookAtALinkDoesNotUseItUp(t *testing.T) {
	d, _, _ := walked(t, &walkedAPI{})
	code := CodePath + d.codes.Code()
	for _, path := range []string{code, signin.CallbackPath} {
		answer := visits(t, d, "HEAD "+path)
		if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != http.MethodGet || len(answer.Result().Cookies()) > 0 {
			t.Errorf("HEAD %s is answered with %d, %v", path, answer.Code, answer.Header())
		}
	}
	if answer := visits(t, d, "GET "+code); answer.Code != http.StatusSeeOther || len(answer.Result().Cookies()) != 1 {
		t.Errorf("the link is answered with %d afterwards", answer.Code)
	}
}
