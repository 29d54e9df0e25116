package powercut

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// A disk is an ext4 file system on an image file, mounted through a loop device.
type disk struct {
	image string
	dir   string // where it is mounted
}

// newDisk makes an empty disk and mounts it until the test ends.
func newDisk(t *testing.T) *disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("a power cut needs root, to mount a loop device: run it as root; make check does without")
	}
	dir := t.TempDir()
	d := &disk{image: filepath.Join(dir, "disk.img"), dir: filepath.Join(dir, "mnt")}
	if err := d.format(); err != nil {
		t.Fatalf("a power cut needs mkfs.ext4 (package e2fsprogs), mount, and a kernel with loop devices and ext4: %v", err)
	}
	t.Cleanup(func() {
		if err := d.unmount(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// format makes the image and mounts it.
func (d *disk) format() error {
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		return err
	}
	if err := command("mkfs.ext4", "-q", d.image, "256M"); err != nil {
		return err
	}
	return d.mount()
}

func (d *disk) mount() error   { return command("mount", "-o", "loop", d.image, d.dir) }
func (d *disk) unmount() error { return command("umount", d.dir) }

// cutPower makes the file system forget all that was not flushed. From then on every read and write of it is an error.
func (d *disk) cutPower() error {
	const (
		shutdown   = 0x8004587d // EXT4_IOC_SHUTDOWN: _IOR('X', 125, __u32)
		noLogFlush = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH: the journal's unwritten part is lost too
	)
	root, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	how := uint32(noLogFlush)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, root.Fd(), shutdown, uintptr(unsafe.Pointer(&how)))
	if errno != 0 {
		return fmt.Errorf("shut down %s: %w", d.dir, errno)
	}
	return nil
}

// powerUp mounts the disk again, as a machine does when it starts.
func (d *disk) powerUp() error {
	if err := d.unmount(); err != nil {
		return err
	}
	return d.mount()
}

func command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
