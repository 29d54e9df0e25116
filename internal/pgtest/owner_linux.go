package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// PostgreSQL refuses to run as root: then its files belong to user postgres, and it runs as that user.

func own(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := postgresUser()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

func asOwner(cmd *exec.Cmd, dir string) error {
	cmd.Dir = dir
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := postgresUser()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return nil
}

func postgresUser() (uid, gid int, err error) {
	u, err := user.Lookup(superuser)
	if err != nil {
		return 0, 0, fmt.Errorf("root cannot run PostgreSQL, and there is no user for it: %w; run `make setup`", err)
	}
	if uid, err = strconv.Atoi(u.Uid); err != nil {
		return 0, 0, err
	}
	gid, err = strconv.Atoi(u.Gid)
	return uid, gid, err
}
