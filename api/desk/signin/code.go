package signin

import (
	"crypto/rand"
	"crypto/subtle"
	"sync"

	"tallyhouse/api/session"
)

// Codes signs one person in by codes that work once. There is always one that works.
type Codes struct {
	user session.User
	next func(code string)

	mu   sync.Mutex
	code string
}

// NewCodes makes codes of a person. next is told each code that follows the first one, when it begins to work.
func NewCodes(user session.User, next func(code string)) *Codes {
	return &Codes{user: user, next: next, code: rand.Text()}
}

// Code is the one that works.
func (c *Codes) Code() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.code
}

// Take is the person whom the code signs in; false when it is not the one that works. It never works again.
func (c *Codes) Take(code string) (user session.User, ok bool) {
	c.mu.Lock()
	if subtle.ConstantTimeCompare([]byte(code), []byte(c.code)) != 1 {
		c.mu.Unlock()
		return session.User{}, false
	}
	c.code = rand.Text()
	next := c.code
	c.mu.Unlock()
	c.next(next)
	return c.user, true
}
