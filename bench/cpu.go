package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// ownCPU is the processor time that this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// tick is the unit of /proc/stat.
const tick = 10 * time.Millisecond

// machineCPU is the processor time that all processes have used; 0 where that is not told.
func machineCPU() time.Duration {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0
	}
	defer f.Close()
	var user, nice, system, idle, wait, irq, softirq int64
	if _, err := fmt.Fscanf(f, "cpu %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &softirq); err != nil {
		return 0
	}
	return time.Duration(user+nice+system+irq+softirq) * tick
}

// others is the part of the machine that other programs took while a load ran on a server without a database: what
// they take is missing in every rate, and not in each by the same part.
func (t *tally) others() float64 {
	theirs := max(0, t.machineCPU-t.generatorCPU-t.server.CPU)
	return part(theirs.Seconds(), t.wall.Seconds()*float64(runtime.NumCPU()))
}
