//go:build !windows && (!unix || aix || solaris)

package store

import (
	"errors"
	"os"
)

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
