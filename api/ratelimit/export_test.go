package ratelimit

// Keys is how many keys are held.
func (m *Memory) Keys() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recent.Len()
}
