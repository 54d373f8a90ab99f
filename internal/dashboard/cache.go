package dashboard

import "sync"

// cache remembers some values; the one that was not asked for the longest goes.
type cache[V any] struct {
	mu    sync.Mutex
	limit int
	clock int
	items map[string]*cached[V]
}

type cached[V any] struct {
	value V
	used  int
}

// get returns the value of a key, made where it is missing.
func (c *cache[V]) get(key string, make func() V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items == nil {
		c.items = map[string]*cached[V]{}
	}
	c.clock++
	it, ok := c.items[key]
	if !ok {
		if len(c.items) >= c.limit {
			oldest := ""
			for k, it := range c.items {
				if oldest == "" || it.used < c.items[oldest].used {
					oldest = k
				}
			}
			delete(c.items, oldest)
		}
		it = &cached[V]{value: make()}
		c.items[key] = it
	}
	it.used = c.clock
	return it.value
}

// drop forgets a key.
func (c *cache[V]) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.items, key)
}
