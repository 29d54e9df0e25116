package mutate

import (
	"context"
	"errors"
	"fmt"

	"github.com/recibohq/recibo"
)

// What a verifier made of a mutation.
const (
	Refused = "refused"
	Same    = "same"   // the same event: a key or a token of the original
	Review  = "review" // verified, but unreadable: a person decides
	Another = "another"
)

// Judge verifies a mutation of c and says what became of it. An error means that the verifier broke its contract.
func (c *Case) Judge(v recibo.Verifier, m *Mutation) (string, error) {
	known, err := events(v, c.Delivery)
	if err != nil {
		return "", fmt.Errorf("the original does not verify: %w", err)
	}
	got, err := events(v, m.Delivery)
	var why recibo.Reason
	switch {
	case errors.As(err, &why):
		return Refused, nil
	case err != nil:
		return "", fmt.Errorf("refused without a reason: %w", err)
	case len(got) == 0:
		return "", errors.New("verified and no event")
	}
	result := Same
	for _, e := range got {
		switch {
		case isKnown(known, &e):
		case e.Fault != "":
			result = Review
		default:
			return Another, nil
		}
	}
	return result, nil
}

func events(v recibo.Verifier, d *recibo.Delivery) ([]recibo.Event, error) {
	verified, err := v.Verify(context.Background(), d)
	if err != nil {
		return nil, err
	}
	return v.Events(d, verified), nil
}

func isKnown(known []recibo.Event, e *recibo.Event) bool {
	for i := range known {
		if known[i].Key == e.Key || e.Token != "" && known[i].Token == e.Token {
			return true
		}
	}
	return false
}
