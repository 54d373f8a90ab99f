package cli

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// ancestors are the processes that this one was started by. Windows tells their files
// only.
func ancestors() (list []terminal.Process, err error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(snapshot)
	type process struct {
		parent uint32
		file   string
	}
	all := map[uint32]process{}
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		all[entry.ProcessID] = process{entry.ParentProcessID, windows.UTF16ToString(entry.ExeFile[:])}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, err
	}
	for p, ok := all[uint32(os.Getppid())]; ok && len(list) < maxAncestors; p, ok = all[p.parent] {
		list = append(list, terminal.Process{Words: []string{p.file, p.file}})
	}
	return list, nil
}
