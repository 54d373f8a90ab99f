//go:build !windows && (!unix || aix || solaris)

package store

import (
	"errors"
	"os"
)

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func free(f *os.File) { f.Close() }
