package difftest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// A judge is recibo's side: it says of a request what a Receiver would make of it before the store.
type judge struct {
	sdk       *sdk
	provider  *provider.Provider
	verifiers map[string]recibo.Verifier // by key and address
}

var errBind = errors.New("the source does not start")

func (j *judge) bind(r *request) (recibo.Verifier, error) {
	key := r.secret + "\x00" + r.publicKey + "\x00" + r.url
	if v, ok := j.verifiers[key]; ok {
		return v, nil
	}
	v, err := j.provider.Bind(j.sdk.source(j.provider, r))
	if err != nil {
		return nil, errors.Join(errBind, err)
	}
	j.verifiers[key] = v
	return v, nil
}

// events are those of an accepted request; the error is why one is not. The tolerance is the SDK's.
func (j *judge) events(r *request) ([]recibo.Event, error) {
	v, err := j.bind(r)
	if err != nil {
		return nil, err
	}
	d := r.delivery()
	verified, err := v.Verify(context.Background(), d)
	if err != nil {
		return nil, err
	}
	profile := *v.Profile()
	if j.sdk.timeKind != recibo.NoTime {
		profile.TimeKind = j.sdk.timeKind
	}
	err = profile.Fresh(r.now.Sub(verified.At), j.sdk.tolerance, 0)
	if err != nil && !errors.Is(err, recibo.PastHorizon) { // which is kept, for a person
		return nil, err
	}
	return v.Events(d, verified), nil
}

// sameDecisions says whether recibo decides the same by a as by b: an id that is not signed informs only.
func sameDecisions(a, b []recibo.Event) bool {
	return slices.EqualFunc(a, b, func(a, b recibo.Event) bool {
		return a.Key == b.Key && a.Content == b.Content && a.Token == b.Token && a.Type == b.Type && a.Account == b.Account &&
			a.Object == b.Object && a.Version == b.Version && a.Fault == b.Fault
	})
}

func TestJudgeSeesWhatDecides(t *testing.T) {
	a := []recibo.Event{{Key: "k", Content: recibo.Fingerprint{1}, ID: "1"}}
	b := []recibo.Event{{Key: "k", Content: recibo.Fingerprint{1}, ID: "2"}}
	if !sameDecisions(a, b) {
		t.Error("an unsigned id decides")
	}
	b[0].Content = recibo.Fingerprint{2}
	if sameDecisions(a, b) || sameDecisions(a, nil) {
		t.Error("other content does not decide")
	}
}
