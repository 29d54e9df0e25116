package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/recibohq/recibo/internal/sqlstore"
)

// A statement is prepared, and knows whether the clock is its last argument.
type statement struct {
	stmt *sql.Stmt
	now  bool
}

// statements are those of one pool, prepared when first used.
type statements struct {
	db     *sql.DB
	mu     sync.RWMutex
	of     map[string]*statement
	missed []string // asked for while a transaction had the only connection
}

func newStatements(db *sql.DB) *statements { return &statements{db: db, of: map[string]*statement{}} }

// find is nil for a statement that is not prepared yet, and has prepareMissed do it.
func (ss *statements) find(stmt string) *statement {
	ss.mu.RLock()
	s := ss.of[stmt]
	ss.mu.RUnlock()
	if s == nil {
		ss.mu.Lock()
		defer ss.mu.Unlock()
		ss.missed = append(ss.missed, stmt)
	}
	return s
}

func (ss *statements) prepareMissed() error {
	ss.mu.Lock()
	missed := ss.missed
	ss.missed = nil
	ss.mu.Unlock()
	for _, stmt := range missed {
		if _, err := ss.get(stmt); err != nil {
			return err
		}
	}
	return nil
}

func (ss *statements) get(stmt string) (*statement, error) {
	ss.mu.RLock()
	s := ss.of[stmt]
	ss.mu.RUnlock()
	if s != nil {
		return s, nil
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s = ss.of[stmt]; s != nil {
		return s, nil
	}
	text, now := rewrite(stmt)
	prepared, err := ss.db.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	s = &statement{stmt: prepared, now: now}
	ss.of[stmt] = s
	return s, nil
}

func (ss *statements) close() error {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	var errs []error
	for _, s := range ss.of {
		errs = append(errs, s.stmt.Close())
	}
	return errors.Join(errs...)
}

var placeholder = regexp.MustCompile(`\$(\d+|now)`)

// rewrite makes a statement SQLite's: the one writer needs no row locks, and the clock is the last argument. Where
// arguments come in order they become plain question marks, which the driver binds faster than numbered ones.
func rewrite(stmt string) (text string, now bool) {
	text = strings.ReplaceAll(stmt, "FOR UPDATE SKIP LOCKED", "")
	text = strings.ReplaceAll(text, "FOR UPDATE", "")
	var order []int
	last := 0
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			now = true
			n = -1
		}
		order = append(order, n)
		last = max(last, n)
	}
	inOrder := true
	for i, n := range order {
		inOrder = inOrder && (n == i+1 || n == -1 && i == last && i == len(order)-1)
	}
	text = placeholder.ReplaceAllStringFunc(text, func(p string) string {
		switch {
		case inOrder:
			return "?"
		case p == "$now":
			return "?" + strconv.Itoa(last+1)
		default:
			return "?" + p[1:]
		}
	})
	return text, now
}

// insertStatement is made once per table.
func insertStatement(t *sqlstore.Table) string {
	if made, ok := inserts.Load(t); ok {
		return made.(string)
	}
	names, values := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	args := 0
	for i, c := range t.Columns {
		names[i] = c.Name
		if c.Kind == sqlstore.Now {
			values[i] = "$now"
			continue
		}
		args++
		values[i] = "$" + strconv.Itoa(args)
	}
	made := fmt.Sprintf("INSERT INTO %s (%s)\nVALUES (%s)\nON CONFLICT DO NOTHING",
		t.Name, strings.Join(names, ", "), strings.Join(values, ", "))
	inserts.Store(t, made)
	return made
}

var inserts sync.Map // of *sqlstore.Table to string

// bind makes arguments the driver's: an id is a blob.
func (s *statement) bind(now func() time.Time, args []any) []any {
	bound := make([]any, len(args), len(args)+1)
	for i, a := range args {
		bound[i] = a
		if _, ok := a.([16]byte); ok {
			bound[i] = slice(a.([16]byte)) // apart, so that other arguments cost no allocation
		}
	}
	if s.now {
		bound = append(bound, now().UnixMicro())
	}
	return bound
}

func slice(id [16]byte) []byte { return id[:] }

func (s *statement) query(now func() time.Time, calls [][]any, row sqlstore.Row) error {
	for call, args := range calls {
		rows, err := s.stmt.Query(s.bind(now, args)...)
		if err != nil {
			return err
		}
		if err := each(rows, func() error { return row(call, scanner(rows)) }); err != nil {
			return err
		}
	}
	return nil
}

func each(rows *sql.Rows, row func() error) error {
	defer rows.Close()
	for rows.Next() {
		if err := row(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scanner reads ids from blobs.
func scanner(rows *sql.Rows) sqlstore.Scan {
	return func(dest ...any) error {
		for i, d := range dest {
			switch d := d.(type) {
			case *[16]byte:
				dest[i] = (*id)(d)
			case **[16]byte:
				dest[i] = nullID{d}
			}
		}
		return rows.Scan(dest...)
	}
}

type id [16]byte

// Scan reads an id's 16 bytes.
func (i *id) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok || len(b) != len(i) {
		return fmt.Errorf("id of type %T and %d bytes", v, len(b))
	}
	copy(i[:], b)
	return nil
}

// A nullID reads an id that may be NULL.
type nullID struct{ to **[16]byte }

// Scan reads 16 bytes, or NULL.
func (n nullID) Scan(v any) error {
	if v == nil {
		*n.to = nil
		return nil
	}
	*n.to = new([16]byte)
	return (*id)(*n.to).Scan(v)
}
