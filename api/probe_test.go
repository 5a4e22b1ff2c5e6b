package api

import (
	"errors"
	"testing"
)

// Given a database that was not asked yet, then the API isn't ready: it would answer no request. Once it was found right,
// what it said last decides.
func TestTheAPIIsNotReadyBeforeTheDatabaseWasFoundRight(t *testing.T) {
	var p probe
	if p.failed() == nil || p.neverRight() == nil {
		t.Fatal("it is ready before it asked")
	}
	p.note(errors.New("refused"))
	if p.failed() == nil || p.neverRight() == nil {
		t.Fatal("it is ready with a database that was never right")
	}
	p.note(nil)
	if err := errors.Join(p.failed(), p.neverRight()); err != nil {
		t.Fatalf("it isn't ready when the database was found right: %v", err)
	}
	away := errors.New("away")
	p.note(away)
	if !errors.Is(p.failed(), away) || p.neverRight() != nil {
		t.Error("a database that was right and went away: want not ready, and requests sent to it")
	}
}
