package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/recibohq/recibo"
)

// Bounds on what is fetched while a sender waits for its answer.
const (
	fetchWithin = 3 * time.Second
	maxFetched  = 256 << 10
)

// NewFetch gets keys with client, or, if that is nil, with one of its own that calls public addresses only. No redirect is
// followed, whatever the client would do, and no more than 256 KiB are read. Which addresses it is asked for is the profile's:
// https, but for the certificates of authorities, which prove themselves.
func NewFetch(client *http.Client) recibo.Fetch {
	if client == nil {
		dialer := &net.Dialer{Timeout: fetchWithin, Control: publicOnly}
		client = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: fetchWithin}}
	}
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(ctx context.Context, address string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, fetchWithin)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, fmt.Errorf("fetch keys: %w", err)
		}
		resp, err := c.Do(req)
		if err != nil {
			return nil, fmt.Errorf("fetch keys: %w", err)
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxFetched+1))
		switch {
		case err != nil:
			return nil, fmt.Errorf("fetch keys: %w", err)
		case resp.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("fetch keys: %s answers %s", req.URL.Host, resp.Status)
		case len(body) > maxFetched:
			return nil, fmt.Errorf("fetch keys: %s sends more than %d bytes", req.URL.Host, maxFetched)
		}
		return body, nil
	}
}

// shared is for the networks of providers, RFC 6598: no public address, though package netip does not say so.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// publicOnly refuses to connect to what is not public. It comes after the name was resolved, so no name gets around it.
func publicOnly(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := to.Addr().Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || shared.Contains(ip) {
		return fmt.Errorf("%s is no public address", ip)
	}
	return nil
}

// checkFetched refuses what is no plain https address.
func checkFetched(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return errors.New("fetch keys: only https addresses without a user are called")
	}
	return nil
}
