package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Tries of a transaction that the database asks to run again: a deadlock, a lock held too long.
const maxTries = 4

// A committer takes batches of one queue, one commit each.
type committer struct {
	store *Store
	// manyKnown says that most of the last batch's recordings were copies: then the next batch is looked up before it is
	// inserted, so that copies cost no transaction. Either way the UNIQUE constraint decides.
	manyKnown bool
}

// errCommit marks an error that leaves it unknown whether the transaction took effect.
var errCommit = errors.New("commit: outcome unknown")

// errBlame asks for each call of the batch to be run alone.
var errBlame = errors.New("a call of the batch must run alone")

// commit answers each call of the batch.
func (c *committer) commit(batch []*op) {
	s := c.store
	if broken := s.broken.Load(); broken != nil {
		answer(batch, *broken)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.CommitWithin)
	defer cancel()
	rest := batch
	if c.manyKnown {
		rest = s.answerKnown(ctx, batch)
	}
	if len(rest) > 0 {
		s.commitRest(ctx, rest)
	}
	c.manyKnown = mostKnown(batch)
}

// commitRest gives each half of a batch that was refused a transaction of its own, and so on, until what the database
// refuses is alone and fails alone.
func (s *Store) commitRest(ctx context.Context, batch []*op) {
	err := s.commitBatch(ctx, batch)
	if half := len(batch) / 2; half > 0 && err != nil && (errors.Is(err, errBlame) || s.dialect.Refused(err)) {
		s.commitRest(ctx, batch[:half])
		s.commitRest(ctx, batch[half:])
		return
	}
	answer(batch, err)
}

func answer(batch []*op, err error) {
	for _, o := range batch {
		o.done <- err
	}
}

// commitBatch runs a batch in one transaction, again if the database asks for it.
func (s *Store) commitBatch(ctx context.Context, batch []*op) (err error) {
	for try := range maxTries {
		if try > 0 {
			time.Sleep(time.Duration(1+rand.IntN(10*try)) * time.Millisecond) //nolint:gosec // not a secret
		}
		err = s.transact(ctx, batch)
		if err == nil {
			if due(batch) {
				s.signal()
			}
			return nil
		}
		if errors.Is(err, errCommit) || !errors.Is(err, errVanished) && !s.dialect.Transient(err) {
			break
		}
	}
	if s.dialect.Fatal(err) {
		s.fail(err)
	}
	return err
}

func (s *Store) transact(ctx context.Context, batch []*op) error {
	tx, err := s.db.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	changed, err := s.recordAll(ctx, tx, batch)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if err := s.workAll(ctx, tx, batch); err != nil {
		return fmt.Errorf("work: %w", err)
	}
	for _, o := range batch {
		if o.take == nil {
			continue
		}
		if err := o.take.run(ctx, tx); err != nil {
			return fmt.Errorf("lease: %w", err)
		}
	}
	if !changed && s.dialect.Flush != "" {
		if err := tx.Exec(ctx, s.dialect.Flush, nil); err != nil {
			return err
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("%w: %w", errCommit, err)
	}
	return nil
}

// due says whether a committed batch made something due.
func due(batch []*op) bool {
	for _, o := range batch {
		if o.record != nil && o.record.anyFresh() || o.work != nil && o.work.makesDue() {
			return true
		}
	}
	return false
}

func mostKnown(batch []*op) bool {
	known, recordings := 0, 0
	for _, o := range batch {
		if o.record == nil {
			continue
		}
		recordings++
		if !o.record.anyFresh() {
			known++
		}
	}
	return 2*known > recordings
}
