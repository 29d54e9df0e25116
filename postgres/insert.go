package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/recibohq/recibo/internal/sqlstore"
)

// Insert adds rows with one statement, an array per column.
func (t *tx) Insert(ctx context.Context, into *sqlstore.Table, rows [][]any) ([]bool, error) {
	added := make([]bool, len(rows))
	if len(rows) == 0 {
		return added, nil
	}
	result, err := t.tx.Query(ctx, insertStatement(into), columns(into, rows)...)
	if err != nil {
		return nil, err
	}
	// The rows come back in the order in which they went in, less those that were kept out.
	next := 0
	err = readAll(result, nil, 0, func(_ int, scan sqlstore.Scan) error {
		var id [16]byte
		if err := scan(&id); err != nil {
			return err
		}
		for next < len(rows) && rows[next][0].([16]byte) != id {
			next++
		}
		if next == len(rows) {
			return errors.New("rows came back out of order")
		}
		added[next] = true
		return nil
	})
	return added, err
}

var types = map[sqlstore.Kind]string{
	sqlstore.Text: "text", sqlstore.Int: "bigint", sqlstore.Bytes: "bytea", sqlstore.ID: "uuid",
}

var inserts sync.Map // of *sqlstore.Table to string

// insertStatement is made once per table.
func insertStatement(t *sqlstore.Table) string {
	if made, ok := inserts.Load(t); ok {
		return made.(string)
	}
	var names, values, arrays []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
		if c.Kind == sqlstore.Now {
			values = append(values, clock)
			continue
		}
		values = append(values, "r."+c.Name)
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", len(arrays)+1, types[c.Kind]))
	}
	made := fmt.Sprintf("INSERT INTO %s (%s)\nSELECT %s\nFROM unnest(%s) AS r (%s)\nON CONFLICT DO NOTHING\nRETURNING %s",
		t.Name, strings.Join(names, ", "), strings.Join(values, ", "), strings.Join(arrays, ", "),
		strings.Join(names[:len(arrays)], ", "), names[0])
	inserts.Store(t, made)
	return made
}

// columns turns rows into an array per column.
func columns(t *sqlstore.Table, rows [][]any) []any {
	var arrays []any
	for _, c := range t.Columns {
		i := len(arrays)
		switch c.Kind {
		case sqlstore.Text:
			arrays = append(arrays, column(rows, i, func(v any) string { return v.(string) }))
		case sqlstore.Bytes:
			arrays = append(arrays, column(rows, i, func(v any) []byte { return v.([]byte) }))
		case sqlstore.Int:
			arrays = append(arrays, column(rows, i, toInt8))
		case sqlstore.ID:
			arrays = append(arrays, column(rows, i, toUUID))
		}
	}
	return arrays
}

func column[T any](rows [][]any, i int, value func(any) T) pgtype.FlatArray[T] {
	array := make(pgtype.FlatArray[T], len(rows))
	for n, row := range rows {
		array[n] = value(row[i])
	}
	return array
}

func toInt8(v any) pgtype.Int8 {
	n, ok := v.(int64)
	return pgtype.Int8{Int64: n, Valid: ok}
}

func toUUID(v any) pgtype.UUID {
	id, ok := v.([16]byte)
	return pgtype.UUID{Bytes: id, Valid: ok}
}
