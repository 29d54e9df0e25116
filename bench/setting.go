package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/recibohq/recibo/internal/pgtest"
)

// A setting is what a measurement runs in: a directory on a disk, a database server, and the servers under test.
type setting struct {
	dir      string
	postgres *pgtest.Server
	servers  map[string]*server
	places   int
}

func newSetting() (*setting, error) {
	dir, err := scratch("recibo-bench-")
	if err != nil {
		return nil, err
	}
	s := &setting{dir: dir, servers: map[string]*server{}}
	pgDir, err := scratch("recibo-bench-pg-") // beside ours, which PostgreSQL's user cannot enter
	if err == nil {
		s.postgres, err = pgtest.New(pgDir)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// scratch makes a directory that is on a disk: a commit into memory costs nothing.
func scratch(prefix string) (string, error) {
	for _, parent := range []string{os.TempDir(), "/var/tmp", "."} {
		if onDisk(parent) {
			return os.MkdirTemp(parent, prefix)
		}
	}
	return "", errors.New("no directory on a disk for the databases: set TMPDIR to one")
}

// close ends all that was started and removes all that was written.
func (s *setting) close() error {
	var errs []error
	for _, server := range s.servers {
		errs = append(errs, server.stop())
	}
	if s.postgres != nil {
		errs = append(errs, s.postgres.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// place makes the place of a new, empty database for a subject.
func (s *setting) place(ctx context.Context, subject string) (string, error) {
	if strings.Contains(subject, "postgres") {
		return s.postgres.CreateDatabase(ctx)
	}
	s.places++
	return filepath.Join(s.dir, fmt.Sprintf("%d.db", s.places)), nil
}

// start has a server of the subject on a new database.
func (s *setting) start(ctx context.Context, subject string) error {
	place, err := s.place(ctx, subject)
	if err != nil {
		return err
	}
	server, err := startServer(ctx, subject, place)
	if err != nil {
		return err
	}
	s.servers[subject] = server
	return nil
}

// stop ends a server before the others.
func (s *setting) stop(subject string) error {
	server := s.servers[subject]
	delete(s.servers, subject)
	return server.stop()
}
