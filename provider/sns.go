package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/recibohq/recibo"
)

// amazonSNS signs some fields of the message, each as its name and value on lines of their own, in the order of their names:
// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
//
// Message comes first and is the one field that may hold line breaks: were there another, the border between two could be
// moved. Which fields are signed follows from Type, which is the last line.
type amazonSNS struct{ rules *rules }

func newAmazonSNS(r *rules) scheme { return &amazonSNS{r} }

// snsFields are the signed fields of an ordinary message, and of one that is about the subscription.
var snsFields = map[bool][]string{
	false: {"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"},
	true:  {"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"},
}

// snsVersions are the versions of the signature by their hash. One is pinned: the sender may not fall back to the other.
var snsVersions = map[string]string{"sha1": "1", "sha256": "2"}

// snsPaths are what is read of the body before it is verified.
var snsPaths = [][]string{
	{"Message"}, {"MessageId"}, {"Subject"}, {"SubscribeURL"}, {"Timestamp"}, {"Token"}, {"TopicArn"}, {"Type"}, {"SignatureVersion"},
	{"SigningCertURL"},
}

func (*amazonSNS) covers(p *place) bool {
	return p.kind == inParam || p.kind == inJSON && slices.ContainsFunc(snsPaths[:8], func(path []string) bool { return path[0] == p.path[0] })
}

func (*amazonSNS) wholeBody() bool { return false }

func (*amazonSNS) parts() []string {
	parts := make([]string, len(snsFields[false]))
	for i, name := range snsFields[false] {
		parts[i] = "json:" + name
	}
	return parts
}

func (s *amazonSNS) verify(ctx context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	if err := v.findSignatures(d, r); err != nil {
		return err
	}
	text, fields, err := snsSigned(d.Body)
	if err == nil && v.keySet != nil {
		err = sameRegion(fields["TopicArn"], fields["SigningCertURL"])
	}
	if err != nil {
		return fmt.Errorf("%w: %w", recibo.BadSignature, err)
	}
	if version := fields["SignatureVersion"]; version != snsVersions[v.sign.hash] {
		return fmt.Errorf("%w: SignatureVersion %q is not %s", recibo.MalformedSignature, version, snsVersions[v.sign.hash])
	}
	if err := v.choose(ctx, d, r); err != nil {
		return err
	}
	if !v.prove(r, []piece{{bytes: []byte(text)}}) {
		return recibo.BadSignature
	}
	return nil
}

// snsSigned is the signed text of a message, and the fields that were read.
func snsSigned(body []byte) (text string, fields map[string]string, err error) {
	values := make([]value, len(snsPaths))
	if _, err := walk(body, snsPaths, values); err != nil {
		return "", nil, err
	}
	fields = map[string]string{}
	for i, v := range values {
		said, ok, err := v.read(body)
		if err != nil {
			return "", nil, err
		}
		if ok {
			fields[snsPaths[i][0]] = said
		}
	}
	var b strings.Builder
	for _, name := range snsFields[strings.HasSuffix(fields["Type"], "Confirmation")] {
		said, ok := fields[name]
		switch {
		case !ok && name == "Subject":
			continue
		case !ok:
			return "", nil, fmt.Errorf("no %s", name)
		case name != "Message" && strings.Contains(said, "\n"):
			return "", nil, errors.New("a line break where the border could be moved")
		}
		b.WriteString(name + "\n" + said + "\n")
	}
	return b.String(), fields, nil
}

// sameRegion refuses a certificate of another region than the topic's before anything is fetched.
func sameRegion(topic, certificate string) error {
	parts := strings.Split(topic, ":") // arn:aws:sns:eu-west-1:123456789012:name
	if len(parts) > 3 && certificate != "" && !strings.HasPrefix(certificate, "https://sns."+parts[3]+".") {
		return errors.New("the certificate is not of the topic's region")
	}
	return nil
}

func (s *amazonSNS) seal(sealing *sealing) error {
	text, _, err := snsSigned(sealing.body)
	if err != nil {
		return err
	}
	signature, err := sealing.sign([]piece{{bytes: []byte(text)}})
	if err != nil {
		return err
	}
	if sealing.body, err = setText(sealing.body, []string{"SignatureVersion"}, snsVersions[sealing.rules.sign.hash]); err != nil {
		return err
	}
	return sealing.put(signature)
}
