package services

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that PostgreSQL runs as. It refuses to run as root, so root picks another one.
type account struct {
	name       string
	uid, gid   int
	credential *syscall.Credential // nil: this process's own user
}

// postgresAccount returns the own user, or, for root, `postgres`, else `nobody`.
func postgresAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 31)
		if err != nil {
			return account{}, fmt.Errorf("user id of %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 31)
		if err != nil {
			return account{}, fmt.Errorf("group id of %s: %w", name, err)
		}
		return account{
			name: name, uid: int(uid), gid: int(gid),
			credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: []uint32{}},
		}, nil
	}
	return account{}, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as")
}

// Reaches reports whether PostgreSQL, run by this user, can work in dir: for root it has to get there as another
// user, so every parent that exists must let that user pass. dir itself may not exist yet.
func Reaches(dir string) (bool, error) {
	acc, err := postgresAccount()
	if err != nil {
		return false, err
	}
	return acc.reaches(dir)
}

func (a account) reaches(dir string) (bool, error) {
	if a.credential == nil {
		return true, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return false, err
		case !a.passes(info):
			return false, nil
		}
		if parent == filepath.Dir(parent) {
			return true, nil
		}
	}
}

// passes reports whether the account may search the folder, by the mode bits that apply to it.
func (a account) passes(folder os.FileInfo) bool {
	owner, ok := folder.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	mode := folder.Mode().Perm()
	switch {
	case int(owner.Uid) == a.uid:
		return mode&0o100 != 0
	case int(owner.Gid) == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

// own makes dir, mode 0700, and gives it to the account.
func (a account) own(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // parents must let PostgreSQL's user pass
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if a.credential == nil {
		return nil
	}
	return os.Chown(dir, a.uid, a.gid)
}
