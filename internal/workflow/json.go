package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// orderedMap is a map that remembers the order of its keys: the order of stages in a
// file is the order of the work, and a Go map would lose it.
type orderedMap[V any] struct {
	keys []string
	vals map[string]V
}

// Get returns the value of key and whether it is there.
func (m orderedMap[V]) Get(key string) (V, bool) {
	v, ok := m.vals[key]
	return v, ok
}

// Has reports whether key is there.
func (m orderedMap[V]) Has(key string) bool { _, ok := m.vals[key]; return ok }

// Set replaces the value of key in place, or appends the key.
func (m *orderedMap[V]) Set(key string, v V) {
	if m.vals == nil {
		m.vals = map[string]V{}
	}
	if _, ok := m.vals[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.vals[key] = v
}

// Delete removes key.
func (m *orderedMap[V]) Delete(key string) {
	if _, ok := m.vals[key]; ok {
		delete(m.vals, key)
		m.keys = slices.DeleteFunc(m.keys, func(k string) bool { return k == key })
	}
}

// Keys returns the keys in order. The caller must not change the slice.
func (m orderedMap[V]) Keys() []string { return m.keys }

// Len returns the number of keys.
func (m orderedMap[V]) Len() int { return len(m.keys) }

// All iterates in order.
func (m orderedMap[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range m.keys {
			if !yield(k, m.vals[k]) {
				return
			}
		}
	}
}

// clone copies the map; values are copied by f.
func (m orderedMap[V]) clone(f func(V) V) orderedMap[V] {
	c := orderedMap[V]{keys: slices.Clone(m.keys)}
	if m.vals != nil {
		c.vals = make(map[string]V, len(m.vals))
		for k, v := range m.vals {
			c.vals[k] = f(v)
		}
	}
	return c
}

// object is a JSON object as ordered raw members. Decoding into it and encoding
// again keeps members that this version knows nothing about, and their order.
type object struct{ orderedMap[json.RawMessage] }

func same[V any](v V) V { return v }

func (o object) clone() object { return object{o.orderedMap.clone(same)} }

// parseObject reads data, which must be one valid JSON object.
func parseObject(data []byte) (object, error) {
	var o object
	if !json.Valid(data) {
		return o, fmt.Errorf("not valid JSON")
	}
	// JSON in another encoding would not come back as it was read.
	root := gjson.ParseBytes(bytes.ToValidUTF8(data, []byte("\uFFFD")))
	if !root.IsObject() {
		return o, fmt.Errorf("want a JSON object, got %s", kind(root))
	}
	return objectOf(root), nil
}

func objectOf(r gjson.Result) object {
	var o object
	if !r.IsObject() {
		return o
	}
	r.ForEach(func(k, v gjson.Result) bool {
		o.Set(k.String(), json.RawMessage(v.Raw))
		return true
	})
	return o
}

// read takes the values that can be read.
func (m *orderedMap[V]) read(r gjson.Result) bool {
	if r.IsObject() {
		r.ForEach(func(k, r gjson.Result) bool {
			var v V
			if readValue(r, reflect.ValueOf(&v).Elem()) {
				m.Set(k.String(), v)
			}
			return true
		})
	}
	return true
}

func (m orderedMap[V]) object() (o object) {
	for k, v := range m.All() {
		o.put(k, v)
	}
	return o
}

func (o object) object() object { return o }

// unread is an object as it stood in its file. Only who writes it again needs its members.
type unread string

// with is the object with other fields.
func (u unread) with(fields any) object {
	o := objectOf(gjson.Parse(string(u)))
	o.fields(fields)
	return o
}

func kind(r gjson.Result) string {
	if r.IsArray() {
		return "an array"
	}
	return map[gjson.Type]string{
		gjson.Null: "null", gjson.String: "a string", gjson.Number: "a number", gjson.True: "a boolean", gjson.False: "a boolean",
	}[r.Type]
}

// member returns the value of key for typed reading; a missing key reads as null.
func (o object) member(key string) gjson.Result {
	raw, _ := o.Get(key)
	return gjson.ParseBytes(raw)
}

// put stores v encoded without HTML escaping.
func (o *object) put(key string, v any) {
	if w, ok := v.(writer); ok {
		v = w.object()
	}
	o.Set(key, store.EncodeJSON(v))
}

// MarshalJSON never fails.
func (o object) MarshalJSON() ([]byte, error) { return o.compact(), nil }

func (o object) compact() []byte {
	b := []byte{'{'}
	for k, raw := range o.All() {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, store.EncodeJSON(k)...), ':'), raw...)
	}
	return append(b, '}')
}
