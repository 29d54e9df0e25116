// Package pgtest starts a throw-away PostgreSQL for tests, demos and benchmarks. It listens on a private socket only.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// superuser owns the cluster; the socket's directory is open to its owner alone.
const superuser = "postgres"

// A Server is a running PostgreSQL.
type Server struct {
	dir     string
	cmd     *exec.Cmd
	done    chan struct{} // closed when the process ended
	guard   io.Closer
	guarded *exec.Cmd
	log     bytes.Buffer // read after done
	last    atomic.Int64 // number of the last database or schema
}

// settings make a small server with every promise of durability kept.
var settings = map[string]string{
	"listen_addresses":           "",
	"max_connections":            "100",
	"fsync":                      "on",
	"full_page_writes":           "on",
	"synchronous_commit":         "on",
	"shared_buffers":             "256MB",
	"max_wal_size":               "2GB",
	"checkpoint_timeout":         "15min",
	"logging_collector":          "off",
	"log_min_messages":           "warning",
	"dynamic_shared_memory_type": "posix",
}

// New starts a server whose files are in dir, which is made if need be. Close stops it and removes them.
func New(dir string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, done: make(chan struct{})}
	if err := s.initialize(bin); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w", err), os.RemoveAll(dir))
	}
	if err := s.start(bin); err != nil {
		return nil, errors.Join(fmt.Errorf("start postgres: %w", err), os.RemoveAll(dir))
	}
	return s, nil
}

// binaries finds the directory of initdb and postgres, the newest first.
func binaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	if len(found) > 0 {
		return filepath.Dir(found[0]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New("no PostgreSQL under /usr/lib/postgresql or in PATH: run `make setup`")
	}
	return filepath.Dir(path), nil
}

// version reads 15 from /usr/lib/postgresql/15/bin/initdb.
func version(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}

func (s *Server) initialize(bin string) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if err := own(s.dir); err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(bin, "initdb"), "-D", s.data(), "-U", superuser, "-A", "trust",
		"-E", "UTF8", "--locale=C", "--no-instructions", "--no-sync")
	if err := asOwner(cmd, s.dir); err != nil {
		return err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// start runs the server, and a guard that stops it when this process ends, however it ends.
func (s *Server) start(bin string) error {
	args := []string{"-D", s.data(), "-k", s.dir}
	for name, value := range settings {
		args = append(args, "-c", name+"="+value)
	}
	s.cmd = exec.Command(filepath.Join(bin, "postgres"), args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := asOwner(s.cmd, s.dir); err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait()
	}()
	if err := s.startGuard(); err != nil {
		return errors.Join(err, s.Close())
	}
	return s.await()
}

// guard waits for the end of its input, which is that of this process, stops the server and removes its files.
const guard = `cat >/dev/null
kill -INT "$1" 2>/dev/null
n=0
while kill -0 "$1" 2>/dev/null && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
rm -rf "$2"`

func (s *Server) startGuard() error {
	cmd := exec.Command("sh", "-c", guard, "guard", strconv.Itoa(s.cmd.Process.Pid), s.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is not for the guard
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.guard, s.guarded = input, cmd
	return nil
}

// await waits until the server answers.
func (s *Server) await() error {
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := s.exec(context.Background(), superuser, "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("it ended: %s", strings.TrimSpace(s.log.String()))
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return errors.Join(err, s.Close())
		}
	}
}

// URL is the address of a database of the server.
func (s *Server) URL(database string) string {
	q := url.Values{"host": {s.dir}, "user": {superuser}, "sslmode": {"disable"}}
	return "postgres:///" + url.PathEscape(database) + "?" + q.Encode()
}

// CreateDatabase makes an empty database and returns its address.
func (s *Server) CreateDatabase(ctx context.Context) (string, error) {
	name := fmt.Sprintf("db%d", s.last.Add(1))
	if err := s.exec(ctx, superuser, "CREATE DATABASE "+name); err != nil {
		return "", fmt.Errorf("create database: %w", err)
	}
	return s.URL(name), nil
}

func (s *Server) exec(ctx context.Context, database, stmt string) error {
	conn, err := pgx.Connect(ctx, s.URL(database))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, stmt)
	return errors.Join(err, conn.Close(ctx))
}

// Close stops the server and removes its files.
func (s *Server) Close() error {
	if s.guard == nil { // it never came so far
		_ = s.cmd.Process.Kill()
		<-s.done
		return os.RemoveAll(s.dir)
	}
	err := s.guard.Close()
	<-s.done
	return errors.Join(err, s.guarded.Wait())
}

// shared is the server of the test process. It runs until the process ends.
var shared = sync.OnceValues(func() (*Server, error) {
	dir, err := os.MkdirTemp("", "recibo-pg-")
	if err != nil {
		return nil, err
	}
	return New(dir)
})

// Start gives the test process's server, and starts it for the first test that asks.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return s
}

// NewSchema gives the test an empty schema of its own, which is much faster to make than a database and looks like one to
// whoever does not name schemas.
func (s *Server) NewSchema(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("schema%d", s.last.Add(1))
	if err := s.exec(context.Background(), superuser, "CREATE SCHEMA "+name); err != nil {
		t.Fatalf("pgtest: create schema: %v", err)
	}
	return s.URL(superuser) + "&search_path=" + name
}

// NewDatabase gives the test an empty database of its own.
func (s *Server) NewDatabase(t testing.TB) string {
	t.Helper()
	u, err := s.CreateDatabase(context.Background())
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return u
}
