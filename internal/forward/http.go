// Package forward sends an attempt on to the application: a destination is where the gateway forwards to.
package forward

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"code.dny.dev/ssrf"

	"github.com/recibohq/recibo"
)

// A Signer signs a body for a destination, by Standard Webhooks: it returns the three webhook-… headers.
type Signer func(id string, at time.Time, body []byte) (http.Header, error)

// HTTP is a destination that is called over HTTP. It is a [recibo.Handler].
type HTTP struct {
	name   string
	url    string
	sign   Signer
	client *http.Client
	now    func() time.Time
}

// HTTPOptions adjusts an HTTP destination.
type HTTPOptions struct {
	Sign Signer // required
	// Allow are the private networks that may be called, loopback too; all others that are not public are refused.
	Allow   []netip.Prefix
	Timeout time.Duration    // of one call; default 15 seconds
	Conns   int              // kept open; default 16
	Now     func() time.Time // default time.Now
}

// NewHTTP makes the destination name that calls address, with POST.
func NewHTTP(name, address string, o HTTPOptions) (*HTTP, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("destination %s: url %q: want http://host/path or https://host/path", name, address)
	}
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Second
	}
	if o.Conns == 0 {
		o.Conns = 16
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &HTTP{name: name, url: u.String(), sign: o.Sign, client: client(o), now: o.Now}, nil
}

// client calls only addresses that are public or allowed, checked after the name was resolved, follows no redirect and
// asks no proxy.
func client(o HTTPOptions) *http.Client {
	options := []ssrf.Option{ssrf.WithAnyPort()}
	for _, p := range o.Allow {
		if p.Addr().Is4() {
			options = append(options, ssrf.WithAllowedV4Prefixes(p))
		} else {
			options = append(options, ssrf.WithAllowedV6Prefixes(p))
		}
	}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: ssrf.New(options...).Safe}
	return &http.Client{
		Timeout:       o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:         dialer.DialContext,
			MaxIdleConnsPerHost: o.Conns,
			IdleConnTimeout:     30 * time.Second,
			TLSHandshakeTimeout: 5 * time.Second,
		},
	}
}

// Handle sends the event's bytes and returns nil when the application answered 2xx.
func (h *HTTP) Handle(ctx context.Context, a *recibo.Attempt) error {
	req, err := h.request(ctx, a)
	if err != nil {
		return recibo.Permanent(err)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return h.failed(err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // a read body lets the connection be used again
	if resp.StatusCode/100 != 2 {
		return h.refused(resp)
	}
	a.SetResult(fmt.Sprintf("%d from %s", resp.StatusCode, h.name))
	return nil
}

func (h *HTTP) request(ctx context.Context, a *recibo.Attempt) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(a.Body))
	if err != nil {
		return nil, err
	}
	signed, err := h.sign(a.ID.String(), h.now(), a.Body)
	if err != nil {
		return nil, fmt.Errorf("sign for %s: %w", h.name, err)
	}
	req.Header = signed
	var kept map[string]string
	if err := json.Unmarshal(a.Header, &kept); err != nil {
		return nil, fmt.Errorf("read kept headers: %w", err)
	}
	if t := kept["Content-Type"]; t != "" {
		req.Header.Set("Content-Type", headerText(t))
	}
	req.Header.Set("User-Agent", "recibo")
	req.Header.Set("Idempotency-Key", a.IdempotencyKey())
	for name, value := range map[string]string{
		"Recibo-Source": a.Source, "Recibo-Tenant": a.Tenant, "Recibo-Type": a.Type, "Recibo-Key": string(a.Key),
		"Recibo-Attempt": strconv.Itoa(a.Number),
	} {
		if value != "" {
			req.Header.Set(name, headerText(value))
		}
	}
	return req, nil
}

// headerText makes text that a sender chose safe in a header: what is not printable ASCII is percent-encoded.
func headerText(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return url.PathEscape(s)
		}
	}
	return s
}

// failed shortens a client's error to what an operator needs; a URL can hold a password.
func (h *HTTP) failed(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, ssrf.ErrProhibitedIP) {
		return fmt.Errorf("%s: the address is private and not allowed; add its network to network.allow: %w", h.name, err)
	}
	return fmt.Errorf("%s: %w", h.name, err)
}

// refused honours a Retry-After in seconds. No 4xx is final: a 404 is most often a deploy.
func (h *HTTP) refused(resp *http.Response) error {
	err := fmt.Errorf("%d from %s", resp.StatusCode, h.name)
	seconds, parseErr := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 31)
	if parseErr != nil || (resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable) {
		return err
	}
	return recibo.RetryAfter(err, time.Duration(seconds)*time.Second)
}
