package workflow

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
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
	phase := phaseV3(o)
	o.put("version", version)
	o.put("pipelineActive", phase != "IDLE" && phase != "COMPLETE")
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
	return o.file(), nil
}

// phaseV3 is version 3's derivePhase.
func phaseV3(o object) string {
	dag := o.member("dag")
	id := o.member("classification").Get("pipelineId").String()
	if o.member("meta").Get("cancelled").Bool() {
		return "IDLE"
	}
	if !dag.IsObject() {
		if id != "" && id != "none" {
			return "CLASSIFIED"
		}
		return "IDLE"
	}
	keys := objectOf(dag).Keys()
	if len(keys) == 0 {
		return "IDLE"
	}
	if len(o.member("pendingRetry").Get("stages").Array()) > 0 {
		return "RETRYING"
	}
	stages := objectOf(o.member("stages"))
	status := func(k string) string { return stages.member(k).Get("status").String() }
	undone := slices.ContainsFunc(keys, func(k string) bool { s := status(k); return s != Completed && s != Skipped })
	switch {
	case !undone:
		return "COMPLETE"
	case slices.ContainsFunc(stages.Keys(), func(k string) bool { return status(k) == Active }):
		return "DELEGATING"
	}
	return "CLASSIFIED"
}
