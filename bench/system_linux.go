package main

import (
	"fmt"
	"net/netip"
	"syscall"
	"time"
)

// A poller waits for answers on many sockets at once. It is epoll without Go's scheduler between: a goroutine for each
// connection would cost more than the server that is measured.
type poller struct {
	fd     int
	events [connections]syscall.EpollEvent
}

func newPoller() (*poller, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return &poller{fd: fd}, nil
}

// dial connects to a server on loopback and has the poller watch the socket under a number.
func (p *poller) dial(to netip.AddrPort, number int) (socket int, err error) {
	socket, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("socket: %w", err)
	}
	err = syscall.Connect(socket, &syscall.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
	if err == nil {
		err = syscall.SetNonblock(socket, true)
	}
	if err == nil {
		err = syscall.SetsockoptInt(socket, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	}
	if err == nil {
		err = syscall.EpollCtl(p.fd, syscall.EPOLL_CTL_ADD, socket, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(number)})
	}
	if err != nil {
		_ = syscall.Close(socket)
		return 0, fmt.Errorf("connect to %s: %w", to, err)
	}
	return socket, nil
}

// wait calls ready with the numbers of the sockets that have something to read; it waits until one has, or for most.
func (p *poller) wait(most time.Duration, ready func(number int) error) error {
	milliseconds := int(most / time.Millisecond)
	if milliseconds == 0 && most > 0 {
		p.waitBriefly(most)
	}
	n, err := syscall.EpollWait(p.fd, p.events[:], milliseconds)
	if err != nil && err != syscall.EINTR {
		return fmt.Errorf("epoll: %w", err)
	}
	for i := range n {
		if err := ready(int(p.events[i].Fd)); err != nil {
			return err
		}
	}
	return nil
}

// waitBriefly waits for less than epoll's millisecond: an epoll set is itself a file that select can wait for.
func (p *poller) waitBriefly(most time.Duration) {
	var set syscall.FdSet
	set.Bits[p.fd/64] |= 1 << (p.fd % 64)
	timeout := syscall.NsecToTimeval(max(most, time.Microsecond).Nanoseconds())
	_, _ = syscall.Select(p.fd+1, &set, nil, nil, &timeout) // whatever it says, epoll is asked next
}

func (p *poller) close() { _ = syscall.Close(p.fd) }

// onDisk says whether a directory's files outlive the memory.
func onDisk(dir string) bool {
	const tmpfs, ramfs = 0x01021994, 0x858458f6
	var s syscall.Statfs_t
	return syscall.Statfs(dir, &s) == nil && s.Type != tmpfs && s.Type != ramfs
}
