package sqlstore

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

//go:embed migrations
var migrations embed.FS

// A migration is one numbered file. Its number is the generation of the schema it makes.
type migration struct {
	generation int64
	// oldest is the generation of the oldest binary that may use the schema afterwards.
	oldest int64
	script string
}

// Migrate brings the database to this binary's generation, each step in a transaction of its own under a lock. It refuses
// a database that a newer binary has made unusable for this one.
func Migrate(ctx context.Context, db DB, d *Dialect) error {
	steps, err := readMigrations(d.Name)
	if err != nil {
		return err
	}
	for {
		done, err := migrateOne(ctx, db, d, steps)
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		if done {
			return nil
		}
	}
}

const createSchema = `
CREATE TABLE IF NOT EXISTS recibo_schema (
	generation BIGINT NOT NULL PRIMARY KEY,
	oldest BIGINT NOT NULL,
	migrated_at BIGINT NOT NULL
)`

const insertGeneration = `
INSERT INTO recibo_schema (generation, oldest, migrated_at)
VALUES ($1, $2, $now)`

// migrateOne takes at most one step; it looks under the lock, since another node may have taken it.
func migrateOne(ctx context.Context, db DB, d *Dialect, steps []migration) (done bool, err error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	if d.Lock != "" {
		if err := tx.Script(ctx, d.Lock); err != nil {
			return false, err
		}
	}
	if err := tx.Script(ctx, createSchema); err != nil {
		return false, err
	}
	at, err := generation(ctx, tx)
	if err != nil {
		return false, err
	}
	next, err := nextStep(steps, at)
	if err != nil {
		return false, err
	}
	if next != nil {
		if err := tx.Script(ctx, next.script); err != nil {
			return false, fmt.Errorf("generation %d: %w", next.generation, err)
		}
		if err := tx.Exec(ctx, insertGeneration, []any{next.generation, next.oldest}); err != nil {
			return false, err
		}
	}
	return next == nil, tx.Commit(ctx)
}

// A schema is how far a database is, and which binaries may still use it.
type schema struct{ generation, oldest int64 }

const selectGeneration = `
SELECT COALESCE(MAX(generation), 0), COALESCE(MAX(oldest), 0)
FROM recibo_schema`

func generation(ctx context.Context, tx Tx) (at schema, err error) {
	err = tx.Query(ctx, selectGeneration, [][]any{nil}, func(_ int, scan Scan) error {
		return scan(&at.generation, &at.oldest)
	})
	return at, err
}

// nextStep is the one to take now; nil when there is none.
func nextStep(steps []migration, at schema) (*migration, error) {
	newest := steps[len(steps)-1].generation
	if at.oldest > newest {
		return nil, fmt.Errorf("the database is of schema generation %d and asks for a recibo of generation %d at least, "+
			"this one is %d: use a newer recibo", at.generation, at.oldest, newest)
	}
	for i := range steps {
		if steps[i].generation > at.generation {
			return &steps[i], nil
		}
	}
	return nil, nil
}

func readMigrations(dialect string) ([]migration, error) {
	dir := path.Join("migrations", dialect)
	files, err := fs.ReadDir(migrations, dir) // sorted by name, so by number
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, f := range files {
		script, err := migrations.ReadFile(path.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		m, err := parseMigration(f.Name(), string(script))
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", f.Name(), err)
		}
		steps = append(steps, m)
	}
	return steps, nil
}

// parseMigration reads the number in front of the name and the first line, "-- oldest: n".
func parseMigration(name, script string) (m migration, err error) {
	number, _, _ := strings.Cut(name, "_")
	if m.generation, err = strconv.ParseInt(number, 10, 64); err != nil {
		return m, err
	}
	first, _, _ := strings.Cut(script, "\n")
	if m.oldest, err = strconv.ParseInt(strings.TrimPrefix(first, "-- oldest: "), 10, 64); err != nil {
		return m, err
	}
	m.script = script
	return m, nil
}
