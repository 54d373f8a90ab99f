package dashboard

import "sync"

// cache remembers some values, and forgets all of them when there are too many.
type cache[V any] struct {
	mu    sync.Mutex
	limit int
	items map[string]V
}

// get returns the value of a key, made where it is missing; an error is not remembered.
func (c *cache[V]) get(key string, make func() (V, error)) (v V, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.items[key]
	if ok {
		return v, nil
	}
	if c.items == nil || len(c.items) >= c.limit {
		c.items = map[string]V{}
	}
	if v, err = make(); err == nil {
		c.items[key] = v
	}
	return v, err
}
