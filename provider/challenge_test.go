package provider_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// challenge signs body and returns the answer to it as text: "200 text/plain abc", or the error, or "ordinary".
func challenge(t *testing.T, s *sender, body string) string {
	v := bind(t, s.provider, &s.source)
	d := s.send(body)
	verified, err := v.Verify(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := v.(recibo.Challenger).Challenge(d, verified)
	switch {
	case err != nil:
		return err.Error()
	case answer == nil:
		return "ordinary"
	default:
		return strings.TrimSpace(strings.Join([]string{map[int]string{200: "200", 204: "204"}[answer.Status], answer.ContentType, string(answer.Body)}, " "))
	}
}

func TestSlackChallengeIsEchoedAsPlainText(t *testing.T) {
	s := newSender(t, provider.MustLookup("slack"))
	for body, want := range map[string]string{
		`{"type":"url_verification","challenge":"abc 123"}`:                               "200 text/plain abc 123",
		`{"type":"url_verification","challenge":"` + strings.Repeat("x", 513) + `"}`:      "unreadable",
		`{"type":"url_verification","challenge":"<é>"}`:                                   "unreadable",
		`{"type":"url_verification","challenge":"a\u000ab"}`:                              "unreadable",
		`{"type":"url_verification"}`:                                                     "unreadable",
		`{"type":"url_verification","challenge":{"a":1}}`:                                 "unreadable",
		`{"type":"event_callback","challenge":"abc","event_id":"E1"}`:                     "ordinary",
		`{"event":{"type":"url_verification"},"type":"event_callback","challenge":"abc"}`: "ordinary",
		`{"type":"url_verification","type":"event_callback","challenge":"abc"}`:           "ordinary",
		`type=url_verification&challenge=abc`:                                             "ordinary",
	} {
		if got := challenge(t, s, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestDiscordPingsAreTwoAndAWebhookEventIsNone(t *testing.T) {
	s := newSender(t, provider.MustLookup("discord"))
	for body, want := range map[string]string{
		`{"type":1,"id":"1"}`: `200 application/json {"type":1}`,
		`{"type":0}`:          "204 application/json",
		`{"type":1,"event":{"type":"APPLICATION_AUTHORIZED"}}`: "ordinary",
		`{"type":2,"id":"1"}`: "ordinary",
		`{"type":1`:           "ordinary",
	} {
		if got := challenge(t, s, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestZoomProofIsNoSigningOracle(t *testing.T) {
	s := newSender(t, provider.MustLookup("zoom"))
	validation := func(token string) string {
		return `{"event":"endpoint.url_validation","payload":{"plainToken":"` + token + `"}}`
	}
	if got := challenge(t, s, validation("qgg8vlvZRS6UYooatFL8Aw")); !strings.HasPrefix(got, `200 application/json {"plainToken":"qgg8vlvZRS6UYooatFL8Aw","encryptedToken":"`) {
		t.Errorf("a plain token is answered %q", got)
	}
	for _, token := range []string{"", "v0:1767225600:{}", "a b", "a.b", "é", strings.Repeat("x", 129), `\u0000`} {
		if got := challenge(t, s, validation(token)); got != "unreadable" {
			t.Errorf("token %q is answered %q, want nothing", token, got)
		}
	}
}

func TestOnlySendersWithHandshakesAreChallengers(t *testing.T) {
	var got []string
	for _, c := range cases(t) {
		if _, ok := bind(t, c.Provider, &c.Source).(recibo.Challenger); ok {
			got = append(got, c.Provider.Name())
		}
	}
	if diff := cmp.Diff([]string{"discord", "slack", "zoom"}, got); diff != "" {
		t.Error(diff)
	}
}
