package provider

import (
	"crypto"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// maxKeySet is how many keys a set may have.
const maxKeySet = 64

// A namedKey is a key of a set.
type namedKey struct {
	name string
	key  crypto.PublicKey
}

// parseKeySet reads a JSON Web Key or a set of them (RFC 7517). Keys that cannot be read, or are not for signatures, are
// passed over: a set may hold kinds that came after us.
func parseKeySet(text []byte) ([]namedKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("it is neither PEM nor a JSON Web Key: %w", err)
	}
	if set.Keys == nil {
		set.Keys = []json.RawMessage{text}
	}
	if len(set.Keys) > maxKeySet {
		return nil, fmt.Errorf("it has more than %d keys", maxKeySet)
	}
	var keys []namedKey
	for _, one := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(one) != nil {
			continue
		}
		if !k.IsPublic() {
			return nil, errors.New("it is a private key: give the public one, and keep this one secret")
		}
		if !k.Valid() || k.Use == "enc" || retired(one) {
			continue
		}
		keys = append(keys, namedKey{k.KeyID, k.Key})
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no key for signatures")
	}
	return keys, nil
}

// retired says that a sender has marked the key as no longer in use, as Plaid does.
func retired(key []byte) bool {
	var mark struct {
		ExpiredAt *json.Number `json:"expired_at"`
	}
	return json.Unmarshal(key, &mark) == nil && mark.ExpiredAt != nil
}
