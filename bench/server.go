package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A server is a process that serves a subject, seen from this one.
type server struct {
	subject string
	address netip.AddrPort
	cmd     *exec.Cmd
	input   io.Closer
	orders  *json.Encoder
	answers *json.Decoder
	errors  bytes.Buffer // what it wrote to its standard error; read once it has ended
}

// startServer runs this program once more. The process ends when stop is called, when ctx ends, and when this process
// does, since it reads our end of a pipe.
func startServer(ctx context.Context, subject, place string) (*server, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{subject: subject, cmd: exec.CommandContext(ctx, program, "serve", subject, place)} //nolint:gosec // itself
	s.cmd.Stderr = &s.errors
	s.cmd.WaitDelay = 5 * time.Second
	input, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.input, s.orders, s.answers = input, json.NewEncoder(input), json.NewDecoder(output)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.greet(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *server) greet() error {
	var g greeting
	err := s.answers.Decode(&g)
	if err != nil {
		return fmt.Errorf("start server %s: %w", s.subject, err)
	}
	s.address, err = netip.ParseAddrPort(g.Address)
	return err
}

// ask gives an order and returns what the server has counted.
func (s *server) ask(o order) (n counts, err error) {
	if err = s.orders.Encode(o); err == nil {
		err = s.answers.Decode(&n)
	}
	if err != nil {
		return n, fmt.Errorf("ask server %s: %w", s.subject, err)
	}
	return n, nil
}

// stop ends the process and waits for it. Its error has what the process said.
func (s *server) stop() error {
	_ = s.input.Close()
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("server %s: %w: %s", s.subject, err, bytes.TrimSpace(s.errors.Bytes()))
	}
	return nil
}

// memory is the process's resident memory in bytes.
func (s *server) memory() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("statm of server %s: %q", s.subject, text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
