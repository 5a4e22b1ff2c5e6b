package desk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"tallyhouse/api/access"
	"tallyhouse/api/desk/language"
	"tallyhouse/api/desk/signin"
	"tallyhouse/api/problem"
	"tallyhouse/api/serving"
	"tallyhouse/api/session"
	"tallyhouse/reader"
)

// route is a screen and where it is, like GET /projects/{project}/budget. Whoever has not signed in is sent to sign in first; what
// isn't GET must bring the session's token.
type route struct {
	pattern string
	screen  func(v *visit) (answer, error)
	kind    kind
}

// kind says what a request takes.
type kind uint8

const (
	asksPage kind = iota // it counts in the rate limit, and waits for its turn among those that are worked on
	asksFile             // so does this, among those that hold a file in memory
	asksNone             // it reads nothing but what it brings, and is free
)

// contentPolicy lets a page load scripts, styles and data of the desk alone, and none that stand in the page.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// CodePath is where a code behind it signs somebody in.
const CodePath = "/signin/code/"

const (
	signInPath  = "/signin"
	startPath   = "/signin/start"
	signOutPath = "/signout"
	firstPath   = "/projects"
	// compressFrom is from how many bytes on answers are compressed. Their length varies at random, so that it tells nothing of the
	// session's token.
	compressFrom  = 1024
	lengthsVaryBy = 64
)

// routes is the whole desk as a handler.
func (d *Desk) routes(screens []route) (http.Handler, error) {
	mux := http.NewServeMux()
	mux.Handle("GET "+assetPath, d.assets)
	frame, err := d.frame()
	if err != nil {
		return nil, err
	}
	mux.Handle("GET "+framePath, frame)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET "+signInPath, d.signInPage)
	mux.HandleFunc("GET "+startPath, d.startSignIn)
	elsewhere := d.elsewhere(mux)
	for pattern, opened := range map[string]http.HandlerFunc{signin.CallbackPath: d.finishSignIn, CodePath + "{code}": d.signInByCode} {
		mux.HandleFunc("GET "+pattern, opened)
		// Each works once. Programs that only look at links don't use it up.
		mux.Handle("HEAD "+pattern, elsewhere)
	}
	mux.Handle("GET /{$}", http.RedirectHandler(firstPath, http.StatusSeeOther))
	mux.Handle("POST "+signOutPath, d.signedIn(d.signOut, asksNone))
	mux.Handle("/", elsewhere)
	for _, s := range screens {
		mux.Handle(s.pattern, d.signedIn(s.screen, s.kind))
	}
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.RandomJitter(lengthsVaryBy, 0, false),
		gzhttp.ContentTypeFilter(func(contentType string) bool {
			return !strings.HasPrefix(contentType, "text/event-stream") && gzhttp.DefaultContentTypeFilter(contentType)
		}))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	foreign := http.NewCrossOriginProtection()
	foreign.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.fail(&visit{desk: d, request: r, lang: d.language(r)}, w, errForged)
	}))
	return serving.Compressed(compress, secured(foreign.Handler(mux))), nil
}

// secured sets what is true of every answer; a screen may narrow the policy for its own.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
		next.ServeHTTP(w, r)
	})
}

// elsewhere answers what the desk has no page for: the method where the page takes others, which everybody may know, else the address.
func (d *Desk) elsewhere(mux *http.ServeMux) http.Handler {
	nothing := d.signedIn(func(*visit) (answer, error) { return nil, errNotFound }, asksNone)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var allow []string
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			asked := *r
			asked.Method = method
			if _, pattern := mux.Handler(&asked); strings.HasPrefix(pattern, http.MethodGet+" ") || strings.HasPrefix(pattern, http.MethodPost+" ") {
				allow = append(allow, method)
			}
		}
		if len(allow) == 0 {
			nothing.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allow, ", "))
		d.fail(&visit{desk: d, request: r, lang: d.language(r)}, w, errMethod)
	})
}

// signedIn answers those who have signed in, and whom the API knows at this moment.
func (d *Desk) signedIn(screen func(v *visit) (answer, error), kind kind) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{desk: d, request: r, lang: d.language(r), leave: func() {}}
		var ok bool
		if v.session, ok = d.cookies.Read(r, d.clock()); !ok {
			d.askToSignIn(w, r)
			return
		}
		var err error
		if v.caller, err = d.api.Caller(v.session.User()); errors.Is(err, access.ErrCredentials) {
			d.cookies.End(w)
			d.showSignIn(w, r, "signin.unknown", http.StatusForbidden)
			return
		} else if err != nil {
			d.fail(v, w, err)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead { // it is read before others wait for it
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if !v.session.Sends(r) {
				d.fail(v, w, errForged)
				return
			}
		}
		if kind != asksNone {
			var ctx context.Context
			if ctx, v.leave, err = d.api.Admit(r.Context(), v.session.User(), kind == asksFile); err != nil {
				d.fail(v, w, err)
				return
			}
			defer v.leave()
			v.request = r.WithContext(ctx)
		}
		out, err := screen(v)
		if err == nil {
			err = out.write(v, w)
		}
		if err != nil {
			d.fail(v, w, err)
		}
	})
}

// fail answers with what went wrong, in the person's language. What it was in detail goes to the log alone.
func (d *Desk) fail(v *visit, w http.ResponseWriter, err error) {
	status, kind, why := http.StatusInternalServerError, "internal", ""
	var refused *refusedError
	waited, _ := errors.AsType[*problem.Error](err)
	switch {
	case errors.Is(err, errNotFound):
		status, kind = http.StatusNotFound, "notFound"
	case errors.Is(err, errTooMany), waited != nil && waited.Kind == problem.TooManyRequests:
		status, kind = http.StatusTooManyRequests, "tooMany"
	case errors.Is(err, errMethod):
		status, kind = http.StatusMethodNotAllowed, "method"
	case errors.Is(err, errForged):
		status, kind = http.StatusForbidden, "forged"
	case errors.As(err, &refused):
		status, kind, why = http.StatusBadRequest, "refused", refused.why
	case v.request.Context().Err() != nil:
		return // nobody is there any more
	default:
		d.log.Error("the desk cannot answer", "request", w.Header().Get(serving.RequestID), "path", v.request.URL.Path, "error", err)
	}
	if _, ok := errors.AsType[*reader.PanicError](err); ok {
		d.guard.Count()
	}
	if waited != nil && waited.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((waited.RetryAfter+time.Second-1)/time.Second), 10))
	}
	if kind == "internal" {
		why = w.Header().Get(serving.RequestID)
	}
	title := v.text("error." + kind + ".title")
	if err := (view{name: "error", title: title, status: status, data: v.text("error."+kind+".text", why)}).write(v, w); err != nil {
		d.log.Error("the desk cannot say what is wrong", "error", err)
		http.Error(w, http.StatusText(status), status)
	}
}

// apologize is what the guard answers after a panic. What else has failed may have been what writes pages: then it is a line of text.
func (d *Desk) apologize(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if value := recover(); value != nil {
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		}
	}()
	secured(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.fail(&visit{desk: d, request: r, lang: d.language(r)}, w, errPanic)
	})).ServeHTTP(w, r)
}

func (d *Desk) language(r *http.Request) *language.Language {
	return d.languages.Of(r.Header.Get("Accept-Language"))
}

// askToSignIn sends somebody to sign in, and afterwards back to where they wanted to.
func (d *Desk) askToSignIn(w http.ResponseWriter, r *http.Request) {
	back := r.URL.RequestURI()
	if r.Method != http.MethodGet {
		back = firstPath
	}
	address := signInPath + "?" + url.Values{"to": {back}}.Encode()
	if r.Header.Get("HX-Request") != "" { // it would put the page into a part of another one
		w.Header().Set("HX-Redirect", signInPath)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// signInData is what the page to sign in shows.
type signInData struct {
	Provider string // "" without one
	Codes    bool
	To       string
	Notice   string
}

func (d *Desk) signInPage(w http.ResponseWriter, r *http.Request) {
	notice := ""
	if r.URL.Query().Has("ended") {
		notice = "signin.ended"
	}
	d.showSignIn(w, r, notice, http.StatusOK)
}

func (d *Desk) showSignIn(w http.ResponseWriter, r *http.Request, notice string, status int) {
	v := &visit{desk: d, request: r, lang: d.language(r)}
	data := signInData{Codes: d.codes != nil, To: signin.LocalPath(r.URL.Query().Get("to"))}
	if d.provider != nil {
		data.Provider = d.provider.Name()
	}
	if notice != "" {
		data.Notice = v.text(notice)
	}
	if err := (view{name: "signin", title: v.text("signin.title"), status: status, data: data}).write(v, w); err != nil {
		d.fail(v, w, err)
	}
}

func (d *Desk) startSignIn(w http.ResponseWriter, r *http.Request) {
	if d.provider == nil {
		d.showSignIn(w, r, "signin.failed", http.StatusNotFound)
		return
	}
	if err := d.provider.Begin(w, r, r.URL.Query().Get("to")); err != nil {
		d.log.Error("a sign-in cannot begin", "error", err)
		d.showSignIn(w, r, "signin.failed", http.StatusBadGateway)
	}
}

func (d *Desk) finishSignIn(w http.ResponseWriter, r *http.Request) {
	if d.provider == nil {
		d.showSignIn(w, r, "signin.failed", http.StatusNotFound)
		return
	}
	user, to, err := d.provider.Finish(w, r)
	switch {
	case errors.Is(err, signin.ErrSignIn):
		d.log.Warn("somebody could not sign in", "error", err)
		d.showSignIn(w, r, "signin.failed", http.StatusForbidden)
	case err != nil:
		d.log.Error("a sign-in cannot end", "error", err)
		d.showSignIn(w, r, "signin.failed", http.StatusBadGateway)
	default:
		d.welcome(w, r, user, to)
	}
}

func (d *Desk) signInByCode(w http.ResponseWriter, r *http.Request) {
	if d.codes == nil {
		d.showSignIn(w, r, "signin.failed", http.StatusNotFound)
		return
	}
	user, ok := d.codes.Take(r.PathValue("code"))
	if !ok {
		d.showSignIn(w, r, "signin.codeUsed", http.StatusForbidden)
		return
	}
	d.welcome(w, r, user, firstPath)
}

// welcome lets the session of a person begin, whom the API must know.
func (d *Desk) welcome(w http.ResponseWriter, r *http.Request, user session.User, to string) {
	v := &visit{desk: d, request: r, lang: d.language(r)}
	_, err := d.api.Caller(user)
	if errors.Is(err, access.ErrCredentials) {
		d.log.Warn("somebody has signed in whom nobody knows", "tenant", user.Tenant, "user", user.ID)
		d.showSignIn(w, r, "signin.unknown", http.StatusForbidden)
		return
	}
	if err == nil {
		err = d.cookies.Begin(w, user, d.clock())
	}
	if err != nil {
		d.fail(v, w, err)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (d *Desk) signOut(*visit) (answer, error) {
	return raw(func(w http.ResponseWriter, r *http.Request) {
		d.cookies.End(w)
		http.Redirect(w, r, signInPath+"?ended", http.StatusSeeOther)
	}), nil
}
