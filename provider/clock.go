package provider

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// A unit says how a sender writes times.
type unit string

const (
	seconds unit = "s"       // exactly ten digits
	millis  unit = "ms"      // exactly thirteen digits
	rfc3339 unit = "rfc3339" // with zone; fractions of a second may be missing
	iso     unit = "iso"     // likewise, with the zone without colon or missing (UTC), with a blank for the T
	auto    unit = "auto"    // any of the first three, told apart by their length and form
)

var units = []unit{seconds, millis, rfc3339, iso, auto}

var errTime = errors.New("not a time")

// parseTime reads a signed time. Digits are counted exactly, so that where a time and a body are signed without a
// separator the border between them cannot be moved; ten digits last until the year 2286.
func parseTime(text string, u unit) (time.Time, error) {
	switch {
	case len(text) == 10 && (u == seconds || u == auto):
		n, err := plainNumber(text)
		return time.Unix(n, 0).UTC(), err
	case len(text) == 13 && (u == millis || u == auto):
		n, err := plainNumber(text)
		return time.UnixMilli(n).UTC(), err
	case u == rfc3339 || u == auto:
		return strictRFC3339(text)
	case u == iso:
		return looseISO(text)
	default:
		return time.Time{}, errTime
	}
}

// plainNumber reads digits that begin with no zero.
func plainNumber(text string) (int64, error) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, errTime
		}
	}
	if text == "" || text[0] == '0' {
		return 0, errTime
	}
	return strconv.ParseInt(text, 10, 64)
}

// strictRFC3339 refuses what package time lets pass beyond the RFC's grammar: a comma before the fraction, one-digit
// hours.
func strictRFC3339(text string) (time.Time, error) {
	if len(text) < len("2006-01-02T15:04:05Z") || text[13] != ':' || strings.Contains(text, ",") {
		return time.Time{}, errTime
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Year() < 1970 {
		return time.Time{}, errTime
	}
	return at.UTC(), nil
}

// looseISO reads the forms of ISO 8601 that senders use beside RFC 3339.
func looseISO(text string) (time.Time, error) {
	if len(text) > len("2006-01-02") && text[len("2006-01-02")] == ' ' {
		text = text[:len("2006-01-02")] + "T" + text[len("2006-01-02 "):]
	}
	if at, err := strictRFC3339(text); err == nil {
		return at, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() >= 1970 && !strings.Contains(text, ",") {
			return at.UTC(), nil
		}
	}
	return time.Time{}, errTime
}

// occurred reads a time that informs and decides nothing: what is no time is the zero time.
func occurred(text string, u unit) time.Time {
	if whole, _, ok := strings.Cut(text, "."); ok && u == seconds {
		text = whole
	}
	at, err := parseTime(text, u)
	if err != nil {
		return time.Time{}
	}
	return at
}

// format writes a time as the sender would.
func (u unit) format(at time.Time) string {
	switch u {
	case millis:
		return strconv.FormatInt(at.UnixMilli(), 10)
	case rfc3339, iso:
		return at.UTC().Format(time.RFC3339)
	default:
		return strconv.FormatInt(at.Unix(), 10)
	}
}
