//go:build !linux

package main

import (
	"errors"
	"net/netip"
	"time"
)

// A poller exists on Linux only, and without one nothing is measured.
type poller struct{}

func newPoller() (*poller, error) {
	return nil, errors.New("the generator needs epoll: run it on Linux")
}

func (*poller) dial(netip.AddrPort, int) (int, error) { return 0, nil }

func (*poller) wait(time.Duration, func(int) error) error { return nil }

func (*poller) close() {}

func onDisk(string) bool { return false }
