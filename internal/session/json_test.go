package session

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// fill makes a value of any type: whatever of it may be missing is missing in one of
// three.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	some := func() int { return r.IntN(3) }
	if some() == 0 || depth > 8 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<32), r.Int64N(1e9)).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(r, v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), some(), 3))
		for i := range v.Len() {
			fill(r, v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range some() {
			key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key, 0)
			fill(r, item, depth+1)
			v.SetMapIndex(key, item)
		}
	case reflect.String:
		v.SetString([]string{"a", "", "<b> & \"c\"\n", "\u2028 壓縮 \xff", "]{,"}[r.IntN(5)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint(uint64(r.IntN(8)))
	default:
		v.SetInt(r.Int64N(1<<20) - 1<<19)
	}
}

// A memory is written and read as encoding/json would, byte for byte, and what that
// refuses is refused.
func TestSparseIsJSON(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var m Memory
		for m.Milestone == "" { // the outermost struct is there
			fill(r, reflect.ValueOf(&m).Elem(), 0)
		}
		want, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := marshalSparse(m)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v\n%s\n%s", err, got, want)
		}
		// Of the document some bytes are others: most are then no JSON, some hold a
		// value of another type.
		for range 4 {
			var a, b Memory
			errA, errB := json.Unmarshal(got, &a), unmarshalSparse(got, &b)
			if (errA == nil) != (errB == nil) {
				t.Fatalf("%v, but %v:\n%s", errA, errB, got)
			}
			if errA == nil && !reflect.DeepEqual(a, b) {
				t.Fatalf("%+v\n%+v\n%s", a, b, got)
			}
			got = bytes.Clone(want)
			for _, swap := range [][2]string{{`:"a"`, `:1`}, {`:{`, `:[{`}, {`:true`, `:"true"`}, {`:[`, `:null,"x":[`}, {`}`, `},`}, {`:{}`, `:null`}, {`[]`, `{}`}} {
				if r.IntN(4) == 0 {
					got = bytes.Replace(got, []byte(swap[0]), []byte(swap[1]), 1)
				}
			}
		}
	}
}
