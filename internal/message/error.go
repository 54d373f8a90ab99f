package message

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
)

// Error is an error whose text is in the catalogue: whoever prints it chooses
// the language.
type Error struct{ Reason Reason }

func (e Error) Error() string { return e.In(EN) }

// In is the error in a language.
func (e Error) In(l Lang) string { return e.Reason.In(l) }

// Fail makes an error of a text.
func Fail(t Text, args ...any) error { return Error{Because(t, args...)} }

// ErrorText is what a person reads of an error: in a language, where it knows it.
func ErrorText(err error, l Lang) string {
	if spoken, ok := errors.AsType[interface {
		error
		In(l Lang) string
	}](err); ok {
		return spoken.In(l)
	}
	text := err.Error()
	if l == EN {
		return text
	}
	for _, cause := range systemErrors() {
		if errors.Is(err, cause.err) {
			return strings.Replace(text, cause.err.Error(), cause.zh, 1)
		}
	}
	return text
}

type systemError struct {
	err error
	zh  string
}

// systemErrors are the reasons of the system that users meet. What stands around them
// (which call, which file) stays as the system says it.
func systemErrors() []systemError {
	return []systemError{
		{syscall.ENOENT, "沒有這個檔案或資料夾"},
		{syscall.EACCES, "沒有權限"},
		{syscall.EPERM, "不允許這個操作"},
		{syscall.EEXIST, "檔案已存在"},
		{syscall.ENOTDIR, "不是資料夾"},
		{syscall.EISDIR, "這是資料夾，不是檔案"},
		{syscall.ENOTEMPTY, "資料夾不是空的"},
		{syscall.ENOSPC, "磁碟空間不足"},
		{syscall.EDQUOT, "超過磁碟配額"},
		{syscall.EROFS, "檔案系統唯讀"},
		{syscall.ENAMETOOLONG, "檔名太長"},
		{syscall.EMFILE, "開啟的檔案太多"},
		{syscall.ELOOP, "符號連結太多層"},
		{syscall.ECONNREFUSED, "連線被拒"},
		{syscall.EADDRINUSE, "位址已被使用"},
		{exec.ErrNotFound, "在 $PATH 裡找不到這個程式"},
		{context.DeadlineExceeded, "逾時"},
		{io.ErrUnexpectedEOF, "內容提早結束"},
	}
}

// Hinted is an error with advice on what to do about it.
type Hinted struct {
	Err  error
	Hint Reason
}

func (h Hinted) Error() string { return h.Err.Error() }
func (h Hinted) Unwrap() error { return h.Err }

// WithHint adds advice to an error.
func WithHint(err error, t Text, args ...any) error { return Hinted{err, Because(t, args...)} }

// HintOf is the advice that an error carries, or what there is to say about a disk
// that is full or may not be written; "" for none.
func HintOf(err error, l Lang) string {
	var h Hinted
	switch {
	case errors.As(err, &h):
		return h.Hint.In(l)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return HintFull.In(l)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return HintClosed.In(l)
	}
	return ""
}

// Misuse is a wrong call of a command, not a failure: exit code 2.
type Misuse struct{ Err error }

func (m Misuse) Error() string { return m.Err.Error() }
func (m Misuse) Unwrap() error { return m.Err }
