package workflow

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// The structs of a state name their members of its file by the tag `file`. A name with a
// dot is that of a member's member. Behind the name may stand what becomes of a zero
// value: with "omit" there is no such member, with "null" it is null. With "ms" a duration
// is a number of milliseconds.

// reader is a value that reads itself, and says whether it could. writer is its opposite.
type (
	reader interface{ read(gjson.Result) bool }
	writer interface{ object() object }
)

// readFields fills the fields of a struct. A member of a wrong type reads as missing.
func readFields(member func(name string) gjson.Result, into any) {
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		name, form, _ := strings.Cut(v.Type().Field(i).Tag.Get("file"), ",")
		if name == "" {
			continue
		}
		if m := member(name); form == "ms" {
			v.Field(i).SetInt(int64(time.Duration(count(m)) * time.Millisecond))
		} else if m.Exists() {
			readValue(m, v.Field(i))
		}
	}
}

// readValue reads what it can of a value, and says whether that is all of it.
func readValue(m gjson.Result, v reflect.Value) bool {
	switch into := v.Addr().Interface().(type) {
	case reader:
		return into.read(m)
	case *[]string:
		*into = stringList(m)
		return true
	case *map[string]int:
		*into = map[string]int{}
		m.ForEach(func(k, v gjson.Result) bool {
			(*into)[k.String()] = count(v)
			return true
		})
		return true
	}
	switch {
	case v.Kind() == reflect.Pointer:
		if p := reflect.New(v.Type().Elem()); m.IsObject() && readValue(m, p.Elem()) {
			v.Set(p)
		}
		return true
	case v.Kind() == reflect.Int:
		v.SetInt(int64(count(m)))
		return true
	case inFile(v.Type()):
		readFields(m.Get, v.Addr().Interface())
		return true
	}
	if json.Unmarshal([]byte(m.Raw), v.Addr().Interface()) != nil {
		v.SetZero()
		return false
	}
	return true
}

// inFile reports a struct that names its members.
func inFile(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() > 0 && t.Field(0).Tag.Get("file") != ""
}

// fields writes the fields of a struct over the members that it was read from. Others stay.
func (o *object) fields(from any) {
	v := reflect.ValueOf(from)
	for i := range v.NumField() {
		f := v.Field(i)
		name, form, _ := strings.Cut(v.Type().Field(i).Tag.Get("file"), ",")
		group, inner, nested := strings.Cut(name, ".")
		list := f.Kind() == reflect.Slice || f.Kind() == reflect.Map
		zero := f.IsZero() || list && f.Len() == 0
		switch {
		case name == "", zero && nested:
		case zero && (form == "omit" || form == "ms"):
			o.Delete(name)
		case zero && form == "null":
			o.put(name, nil)
		case zero && f.Kind() == reflect.Slice:
			o.put(name, []struct{}{})
		case zero && list:
			o.put(name, struct{}{})
		case nested:
			g := objectOf(o.member(group))
			g.put(inner, f.Interface())
			o.put(group, g)
		case form == "ms":
			o.put(name, f.Int()/int64(time.Millisecond))
		default:
			if p := reflect.Indirect(f); p.IsValid() && inFile(p.Type()) {
				if _, own := f.Interface().(writer); !own {
					g := objectOf(o.member(name))
					g.fields(p.Interface())
					o.put(name, g)
					continue
				}
			}
			o.put(name, f.Interface())
		}
	}
}

func stringList(r gjson.Result) []string {
	var list []string
	for _, v := range r.Array() {
		if v.Type == gjson.String && r.IsArray() {
			list = append(list, v.Str)
		}
	}
	return list
}
