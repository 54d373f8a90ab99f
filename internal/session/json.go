package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// encoding/json prepares for every struct that a document may hold before it reads or
// writes the first byte. Most parts of a memory are usually not there, and a hook reads
// and writes it once: the preparation took more than all the rest. So the structs of a
// memory are walked here, and encoding/json gets the values that have none in them.

// marshalSparse is json.Marshal for structs without embedded ones.
func marshalSparse(v any) ([]byte, error) { return appendSparse(nil, reflect.ValueOf(v)) }

// unmarshalSparse is json.Unmarshal for a pointer to such a struct. Names of members
// have to be exact.
func unmarshalSparse(data []byte, v any) error {
	if !store.ValidJSON(data) {
		return errors.New("not JSON")
	}
	return readSparse(gjson.ParseBytes(data), reflect.ValueOf(v).Elem())
}

// hasStructs reports whether values of a type are made of structs that do not write
// their own JSON.
func hasStructs(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return !t.Implements(reflect.TypeFor[json.Marshaler]())
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return hasStructs(t.Elem())
	}
	return false
}

// member is the name of a struct's member, "" where it has none, and when it is left out.
type member struct{ name, omit string }

// known are the members of structs: of most there is more than one, and each is read and
// written.
var known sync.Map

func membersOf(t reflect.Type) []member {
	if list, ok := known.Load(t); ok {
		return list.([]member)
	}
	list := make([]member, t.NumField())
	for i := range list {
		if f := t.Field(i); f.IsExported() {
			name, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
			list[i] = member{cmp.Or(name, f.Name), omit}
		}
	}
	known.Store(t, list)
	return list
}

func appendSparse(dst []byte, v reflect.Value) ([]byte, error) {
	t := v.Type()
	var err error
	switch {
	case !hasStructs(t):
		data, err := json.Marshal(v.Interface())
		return append(dst, data...), err
	case t.Kind() != reflect.Struct && v.IsNil():
		return append(dst, "null"...), nil
	case t.Kind() == reflect.Pointer:
		return appendSparse(dst, v.Elem())
	case t.Kind() == reflect.Slice:
		dst = append(dst, '[')
		for i := 0; i < v.Len() && err == nil; i++ {
			dst, err = appendSparse(comma(dst), v.Index(i))
		}
		return append(dst, ']'), err
	}
	dst = append(dst, '{')
	add := func(name string, v reflect.Value) {
		if err == nil {
			quoted, _ := json.Marshal(name) // a string can be encoded
			dst, err = appendSparse(append(append(comma(dst), quoted...), ':'), v)
		}
	}
	if t.Kind() == reflect.Map {
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			add(k.String(), v.MapIndex(k))
		}
		return append(dst, '}'), err
	}
	for i, m := range membersOf(t) {
		if m.name != "" && !omitted(v.Field(i), m.omit) {
			add(m.name, v.Field(i))
		}
	}
	return append(dst, '}'), err
}

// comma separates what follows from what stands before it.
func comma(dst []byte) []byte {
	if c := dst[len(dst)-1]; c == '[' || c == '{' {
		return dst
	}
	return append(dst, ',')
}

func omitted(v reflect.Value, omit string) bool {
	switch omit {
	case "omitempty":
		if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
			return v.Len() == 0
		}
		return v.Kind() != reflect.Struct && v.IsZero()
	case "omitzero":
		if z, ok := v.Interface().(interface{ IsZero() bool }); ok {
			return z.IsZero()
		}
		return v.IsZero()
	}
	return false
}

func readSparse(r gjson.Result, v reflect.Value) (err error) {
	t := v.Type()
	switch {
	case !hasStructs(t) || r.Type == gjson.Null:
		return json.Unmarshal([]byte(r.Raw), v.Addr().Interface())
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return readSparse(r, v.Elem())
	case t.Kind() == reflect.Slice && r.IsArray():
		v.Set(reflect.MakeSlice(t, 0, 0))
	case t.Kind() == reflect.Map && r.IsObject():
		v.Set(reflect.MakeMap(t))
	case t.Kind() != reflect.Struct || !r.IsObject():
		return fmt.Errorf("read %s from %.40s", t, r.Raw)
	}
	var members []member
	if t.Kind() == reflect.Struct {
		members = membersOf(t)
	}
	r.ForEach(func(key, r gjson.Result) bool {
		if t.Kind() == reflect.Struct {
			name := key.String()
			if i := slices.IndexFunc(members, func(m member) bool { return name != "" && m.name == name }); i >= 0 {
				err = readSparse(r, v.Field(i))
			}
			return err == nil
		}
		item := reflect.New(t.Elem()).Elem()
		err = readSparse(r, item)
		if t.Kind() == reflect.Slice {
			v.Set(reflect.Append(v, item))
		} else {
			v.SetMapIndex(reflect.ValueOf(key.String()), item)
		}
		return err == nil
	})
	return err
}
