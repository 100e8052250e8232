package reconcile

// fusedScales, cacheScales and orphans come with the next change.
func (m *matching) fusedScales(map[string][]*group) {}
func (m *matching) cacheScales()                    {}
func (m *matching) orphans()                        {}
