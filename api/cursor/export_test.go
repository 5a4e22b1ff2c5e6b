package cursor

import "time"

// Forget makes the ring take what it has read as old.
func Forget(r *Ring) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reloaded = time.Time{}
}
