package provider

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/recibohq/recibo"
)

// How long what was fetched, or could not be, is kept.
const (
	keysLive    = 24 * time.Hour // then they are fetched again; while that fails the old ones still serve
	keysRetired = 7 * 24 * time.Hour
	keysPause   = time.Minute      // between two fetches of one address
	keysRetry   = 10 * time.Second // likewise, after one that failed
	maxFetches  = 10               // of a source in one keysPause: strangers may name keys, not make us call others
)

// A keySource is where a sender publishes its keys.
type keySource struct {
	url         string // of a key or a set of them, with slots {param:NAME}
	at          [][]string
	id          *place // the name of the key in use
	certificate *place // where the request names the certificate; it must be on host, below path, and for one of names
	host, path  *regexp.Regexp
	names       []string
}

// String is where that is, for people.
func (k *keySource) String() string {
	if k.certificate != nil {
		return "the certificate at " + k.certificate.String() + ", of the sender's own hosts only"
	}
	return k.url
}

// A keySet is the fetched keys of one source.
type keySet struct {
	*keySource
	sign   *signing
	fetch  recibo.Fetch
	params map[string]string
	roots  *x509.CertPool // nil: the system's

	turn    chan struct{} // one fetch at a time; a wait for it ends with the request
	mu      sync.Mutex
	fetched map[string]*fetchedKeys // by address
	recent  []time.Time             // when fetches were begun
}

// fetchedKeys are what one address had.
type fetchedKeys struct {
	keys  *publicKeys // nil: it could not be had so far
	until time.Time   // when they are too old
	tried time.Time
	err   error // of the last try
}

func newKeySet(r *rules, s *recibo.Source) *keySet {
	return &keySet{
		keySource: r.sign.published, sign: &r.sign, fetch: s.Fetch, params: s.Params,
		turn: make(chan struct{}, 1), fetched: map[string]*fetchedKeys{},
	}
}

// named returns the keys of that name at address. An error that is no Reason is ours: the sender should send again.
func (k *keySet) named(ctx context.Context, address, name string, now time.Time) (*publicKeys, error) {
	if keys, err, known := k.known(address, name, now); known {
		return keys, err
	}
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("fetch keys: %w", ctx.Err())
	}
	if keys, err, known := k.known(address, name, now); known {
		return keys, err
	}
	if !k.mayFetch(now) {
		return nil, errors.New("fetch keys: too many addresses and names of keys in a minute")
	}
	// One who hangs up must not make those who wait find that it failed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*fetchWithin)
	defer cancel()
	keys, until, err := k.get(ctx, address, now)
	k.keep(address, keys, until, now, err)
	keys, err, _ = k.known(address, name, now)
	return keys, err
}

// known says whether it is clear already what the keys are, or that they cannot be had for now.
func (k *keySet) known(address, name string, now time.Time) (*publicKeys, error, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.fetched[address]
	if f == nil {
		return nil, nil, false
	}
	paused := now.Sub(f.tried) < keysPause && (f.err == nil || now.Sub(f.tried) < keysRetry)
	if f.keys != nil && now.Before(f.until) && (paused || now.Sub(f.tried) < keysLive) {
		if keys := f.keys.named(name); len(keys.keys) > 0 || paused && f.err == nil {
			return keys, nil, true
		}
	}
	return nil, f.err, paused
}

// mayFetch counts a fetch, unless there were too many.
func (k *keySet) mayFetch(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.recent) > 0 && now.Sub(k.recent[0]) >= keysPause {
		k.recent = k.recent[1:]
	}
	if len(k.recent) >= maxFetches {
		return false
	}
	k.recent = append(k.recent, now)
	return true
}

// keep notes what a fetch brought. What was there before serves on if it failed.
func (k *keySet) keep(address string, keys *publicKeys, until, now time.Time, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for other, f := range k.fetched {
		if now.Sub(f.tried) >= keysPause && (f.keys == nil || !now.Before(f.until)) {
			delete(k.fetched, other)
		}
	}
	f := k.fetched[address]
	if f == nil {
		f = &fetchedKeys{}
		k.fetched[address] = f
	}
	f.tried, f.err = now, err
	if err == nil {
		f.keys, f.until = keys, until
	}
}

// get fetches the keys at address.
func (k *keySet) get(ctx context.Context, address string, now time.Time) (keys *publicKeys, until time.Time, err error) {
	if err := checkFetched(address); err != nil {
		return nil, until, err
	}
	text, err := k.fetch(ctx, address)
	if err != nil {
		return nil, until, err
	}
	if k.certificate != nil {
		return k.certified(ctx, address, text, now)
	}
	if len(k.at) > 0 {
		if text, err = textAt(text, k.at); err != nil {
			return nil, until, fmt.Errorf("fetch keys: %w", err)
		}
	}
	all, err := k.sign.parseKeys(string(text))
	if err != nil {
		return nil, until, fmt.Errorf("fetch keys: %w", err)
	}
	return &publicKeys{keys: all, length: k.sign.keyLength()}, now.Add(keysRetired), nil
}

// textAt is the text at a path of a JSON answer.
func textAt(answer []byte, at [][]string) ([]byte, error) {
	values := make([]value, 1)
	if _, err := walk(answer, at, values); err != nil {
		return nil, err
	}
	text, ok, err := values[0].read(answer)
	if err == nil && !ok {
		err = fmt.Errorf("no %s in the answer", strings.Join(at[0], "."))
	}
	return []byte(text), err
}

// keys are the source's public keys that may have signed d: those that it was given, or that its sender publishes.
func (v *verifier) keys(ctx context.Context, d *recibo.Delivery, r *reading, name string) (*publicKeys, error) {
	if v.keySet == nil {
		return v.prover.(*publicKeys).named(name), nil // compile pairs the algorithm with its keys
	}
	address := v.keySet.address()
	if v.keySet.certificate != nil {
		text, err := v.partText(v.keySet.certificate, d, r)
		if err != nil {
			return nil, err
		}
		if address, err = v.keySet.allowed(text); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", recibo.BadSignature, v.keySet.certificate, err)
		}
	}
	if id := v.keySet.id; id != nil {
		text, err := v.partText(id, d, r)
		if err != nil {
			return nil, err
		}
		name = text
	}
	return v.keySet.named(ctx, address, name, d.ReceivedAt)
}

// choose notes the fetched keys that may have signed d, where keys are fetched.
func (v *verifier) choose(ctx context.Context, d *recibo.Delivery, r *reading) (err error) {
	if v.keySet != nil {
		r.keys, err = v.keys(ctx, d, r, "")
	}
	return err
}

// address is where the set is, as the source configures it.
func (k *keySet) address() string {
	return fillParams(k.url, k.params)
}
