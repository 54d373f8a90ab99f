package dashboard

import "sync"

// cache remembers some values, and forgets all of them when there are too many.
type cache[V any] struct {
	mu    sync.Mutex
	limit int
	items map[string]V
}

// get returns the value of a key, made where it is missing.
func (c *cache[V]) get(key string, make func() V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.items[key]
	if !ok {
		if c.items == nil || len(c.items) >= c.limit {
			c.items = map[string]V{}
		}
		v = make()
		c.items[key] = v
	}
	return v
}

// drop forgets a key.
func (c *cache[V]) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.items, key)
}
