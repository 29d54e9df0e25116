package recibo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// Limits of steps.
const (
	MaxStepResult = 64 << 10 // bytes of JSON
	maxStepName   = `^[a-z0-9][a-z0-9_.-]{0,63}$`
)

var stepName = regexp.MustCompile(maxStepName)

// A StepSpec names a piece of an attempt.
type StepSpec struct {
	// Name tells the steps of one handler apart: 1 to 64 of a-z, 0-9, '_', '.', '-'.
	Name string
	// Class says what the step's action is. Default: [Idempotent].
	Class StepClass
}

// A StepClass says what kind of action a step is, which decides what can be promised of it.
type StepClass string

// Idempotent: what is called takes an idempotency key, or doing it twice is doing it once. The step may be called again
// after a crash between its end and the keeping of its result, with the same key.
const Idempotent StepClass = "idempotent"

// Step runs one named piece of an attempt and keeps its result with the receipt: a later attempt gets the kept one and
// does not call f. The key that f gets is the same for every attempt; send it as Idempotency-Key. T must survive a JSON
// round trip and be at most [MaxStepResult] bytes.
func Step[T any](ctx context.Context, a *Attempt, spec StepSpec, f func(ctx context.Context, key string) (T, error)) (T, error) {
	var result T
	if err := spec.check(); err != nil {
		return result, Permanent(err)
	}
	if kept, ok := a.kept(spec.Name); ok {
		err := json.Unmarshal(kept, &result)
		return result, wrapStep(spec.Name, "read kept result", err)
	}
	result, err := f(ctx, a.IdempotencyKey()+":"+spec.Name)
	if err != nil {
		return result, err
	}
	return result, a.keep(ctx, spec.Name, result)
}

func (s StepSpec) check() error {
	if !stepName.MatchString(s.Name) {
		return fmt.Errorf("step name %q: want %s", s.Name, maxStepName)
	}
	if s.Class != "" && s.Class != Idempotent {
		return fmt.Errorf("step %s: unknown class %q: want %q", s.Name, s.Class, Idempotent)
	}
	return nil
}

func (a *Attempt) kept(name string) ([]byte, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	result, ok := a.steps[name]
	return result, ok
}

func (a *Attempt) keep(ctx context.Context, name string, result any) error {
	text, err := json.Marshal(result)
	if err != nil {
		return Permanent(wrapStep(name, "write result", err))
	}
	if len(text) > MaxStepResult {
		return Permanent(fmt.Errorf("step %s: result of %d bytes, more than %d", name, len(text), MaxStepResult))
	}
	if err := a.store.SaveStep(ctx, a.ref, KeptStep{Name: name, Result: text}); err != nil {
		return wrapStep(name, "keep result", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steps[name] = text
	return nil
}

func keptSteps(steps []KeptStep) map[string][]byte {
	byName := make(map[string][]byte, len(steps))
	for _, s := range steps {
		byName[s.Name] = s.Result
	}
	return byName
}

func wrapStep(name, doing string, err error) error {
	if err == nil || errors.Is(err, ErrLeaseLost) {
		return err
	}
	return fmt.Errorf("step %s: %s: %w", name, doing, err)
}
