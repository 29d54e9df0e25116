//go:build !linux

package pgtest

import "os/exec"

func own(string) error { return nil }

func asOwner(cmd *exec.Cmd, dir string) error {
	cmd.Dir = dir
	return nil
}
