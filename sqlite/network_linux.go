package sqlite

import (
	"fmt"
	"syscall"
)

// networks are the file systems on which locks do not hold or a flush does not reach a disk. The numbers are those of
// statfs(2).
var networks = map[uint32]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "CIFS",
	0xfe534d42: "SMB2",
	0x65735546: "FUSE",
	0x5346414f: "AFS",
	0x6b414653: "AFS",
	0x73757245: "Coda",
	0x00c36400: "Ceph",
	0x01021997: "9P",
}

func refuseNetwork(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return fmt.Errorf("statfs %s: %w", dir, err)
	}
	if name, ok := networks[uint32(st.Type)]; ok {
		return fmt.Errorf("%s is on a network file system (%s), where SQLite's locks do not hold: "+
			"use a local disk, or PostgreSQL", dir, name)
	}
	return nil
}
