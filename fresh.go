package recibo

import (
	"fmt"
	"time"
)

// Fresh judges the age of a signed time: what is left of a replay once the signature is right. A send time is held to the
// tolerance both ways, else [TooOld] or [TooNew]; an event time to the horizon, else [PastHorizon]. A tolerance or horizon
// of 0 is the profile's own; a horizon that is still 0 means none.
func (p *Profile) Fresh(age, tolerance, horizon time.Duration) error {
	tolerance = orDefault(tolerance, orDefault(p.Tolerance, DefaultTolerance))
	horizon = orDefault(horizon, p.Horizon)
	switch {
	case p.TimeKind == SendTime && age > tolerance:
		return fmt.Errorf("%w: signed %s ago", TooOld, age.Round(time.Second))
	case p.TimeKind == SendTime && age < -tolerance:
		return fmt.Errorf("%w: signed %s ahead of this clock", TooNew, -age.Round(time.Second))
	case p.TimeKind == EventTime && horizon > 0 && age > horizon:
		return fmt.Errorf("%w: it happened %s ago", PastHorizon, age.Round(time.Second))
	}
	return nil
}
