package mail

import (
	"strings"
	"testing"
)

// Given ids that begin like a mail's, when one is released, then none is: nobody means the mail that a part of the text names.
func TestAReleaseTakesTheWholeID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "7", "7.", ".12", "7.12abc", "7.12.3", "7.12 ", "7,12", "+7.12", "7.-12", "7.4294967296"} {
		err := (&Intake{}).Release(t.Context(), id)

		if err == nil || !strings.Contains(err.Error(), "two numbers with a dot between them") {
			t.Errorf("%q: %v", id, err)
		}
	}
}
