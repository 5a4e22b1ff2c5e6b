package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"tallyhouse/schemas/events"
)

// ErrCredentials says that a token gives no access: unknown, wrong, revoked, expired, of another environment, or of an
// owner who is unknown or inactive. All of these look alike.
var ErrCredentials = errors.New("the token gives no access")

// KeyPrefix is how every API key begins, and no session token does.
const KeyPrefix = "pk_"

// key is an API key as it is written: pk_<environment>_<prefix>_<secret>.
type key struct{ environment, prefix, secret string }

// parseKey splits at the first three underscores: the secret may hold more of them.
func parseKey(token string) (key, bool) {
	parts := strings.SplitN(token, "_", 4)
	if len(parts) != 4 || parts[0] != "pk" || parts[1] == "" || parts[2] == "" || parts[3] == "" {
		return key{}, false
	}
	return key{environment: parts[1], prefix: parts[2], secret: parts[3]}, true
}

// CallerByKey finds who an API key acts for: every key of its prefix is compared, its owner must be known and active.
// Otherwise ErrCredentials.
func (s *Store) CallerByKey(token, environment string, now time.Time) (*Caller, error) {
	k, ok := parseKey(token)
	if !ok || k.environment != environment {
		return nil, ErrCredentials
	}
	sum := sha256.Sum256([]byte(k.secret))
	given := []byte(hex.EncodeToString(sum[:]))

	s.mu.RLock()
	defer s.mu.RUnlock()
	for id := range s.prefixes[k.prefix] {
		stored := s.keys[id].data
		// Every candidate is compared, in a time that says nothing about how much of it agrees.
		if subtle.ConstantTimeCompare([]byte(strings.ToLower(stored.SecretSHA256)), given) != 1 {
			continue
		}
		if !usable(stored, environment, now) {
			continue
		}
		owner := entityID{id.tenant, stored.OwnerUserID}
		if !s.active(owner) {
			continue
		}
		caller := s.caller(owner)
		caller.principal = "key:" + id.id
		caller.limit(stored)
		return caller, nil
	}
	return nil, ErrCredentials
}

// CallerByUser finds a signed-in user, whose session token has been verified. ErrCredentials when the user is unknown
// or inactive.
func (s *Store) CallerByUser(tenant, userID string) (*Caller, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	user := entityID{tenant, userID}
	if !s.active(user) {
		return nil, ErrCredentials
	}
	caller := s.caller(user)
	caller.principal = PrincipalOf(userID)
	return caller, nil
}

// PrincipalOf is the principal of a user who has signed in.
func PrincipalOf(userID string) string { return "user:" + userID }

func (s *Store) active(user entityID) bool {
	u := s.users[user].data
	return u != nil && u.Active
}

func usable(k *events.Key, environment string, now time.Time) bool {
	return k.Environment == environment && !k.RevokedAt.Ok && (!k.ExpiresAt.Ok || now.Before(k.ExpiresAt.V))
}
