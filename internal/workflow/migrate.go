package workflow

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// EnsureV4 turns a version 3 state file into version 4. One of version 4, or of
// the older shape without a version, comes back as it is; any other version is
// refused.
func EnsureV4(data []byte) ([]byte, error) {
	switch v := gjson.GetBytes(data, "version"); {
	case v.Type == gjson.Null, v.Type == gjson.Number && v.Num == version:
		return data, nil
	case v.Type == gjson.Number && v.Num > version:
		return nil, fmt.Errorf("%w (version %s, this one knows %d)", ErrNewer, v.Raw, version)
	case v.Type != gjson.Number || v.Num != 3:
		return nil, fmt.Errorf("%w: version %s", errNotState, v.Raw)
	}
	o, err := parseObject(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotState, err)
	}
	runs := activeV3(o)
	o.put("version", version)
	o.put("pipelineActive", runs)
	active := []string{}
	o.member("stages").ForEach(func(k, v gjson.Result) bool {
		if v.Get("status").String() == Active {
			active = append(active, k.String())
		}
		return true
	})
	o.put("activeStages", active)
	var history object
	o.member("retries").ForEach(func(k, _ gjson.Result) bool {
		history.put(k.String(), []Round{})
		return true
	})
	o.put("retryHistory", history)
	o.put("crashes", object{})
	o.Delete("enforced")
	if m := o.member("meta"); m.IsObject() {
		meta := objectOf(m)
		meta.Delete("cancelled")
		o.put("meta", meta)
	}
	if !o.Has("pendingRetry") {
		o.put("pendingRetry", nil)
	}
	return store.JSONFile(o), nil
}

// activeV3 reports whether version 3's derivePhase is neither IDLE nor COMPLETE.
func activeV3(o object) bool {
	dag, id := o.member("dag"), o.member("classification").Get("pipelineId").String()
	switch {
	case o.member("meta").Get("cancelled").Bool():
		return false
	case !dag.IsObject():
		return id != "" && id != "none"
	}
	keys, stages := objectOf(dag).Keys(), objectOf(o.member("stages"))
	return len(keys) > 0 && len(o.member("pendingRetry").Get("stages").Array()) > 0 || slices.ContainsFunc(keys, func(k string) bool {
		s := stages.member(k).Get("status").String()
		return s != Completed && s != Skipped
	})
}
