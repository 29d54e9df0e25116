package recibo

import (
	"cmp"
	"time"
)

// DefaultTenant is the tenant of a source that names none.
const DefaultTenant = "default"

// Defaults of a [Source].
const (
	DefaultTolerance = 5 * time.Minute
	DefaultMaxBody   = 2 << 20
)

// A Source is one configured address of a sender.
type Source struct {
	Name string // unique; appears in logs and receipts
	// ID outlives a change of Name: it is what the source's memory hangs on. Default: Name.
	ID       string
	Provider Provider
	// Variant chooses one of the ways the sender can sign; others that a request also carries are ignored. Default: the
	// profile's main one.
	Variant string
	// Path is the address, matched exactly once "//" became "/" and a final "/" was dropped. Default: "/in/" and Name.
	Path string
	// Tenant owns the source's receipts. Default: [DefaultTenant].
	Tenant string
	// Scope is the group of tenants that share a symmetric secret. Default: Tenant.
	Scope string
	// Account joins the sources that one account at the sender feeds: they share one memory. Default: none.
	Account string
	// Mode is "live" or "test" where the sender has both. Sources of different modes never share a memory.
	Mode       string
	Secrets    []Secret          // newest first; all of them verify
	PublicKeys []string          // for asymmetric senders, in the form that the profile names
	Fetch      Fetch             // gets the keys of senders that publish them, unless PublicKeys has them; default: nothing is fetched
	Params     map[string]string // declared by the profile, no secrets: PayPal's webhook_id, Twilio's public_url
	Accounts   []string          // the allowed accounts at the sender; required where one key serves all its customers
	Require    []string          // places that must be present, such as "json:data.object.id"; else the event goes to review
	// TimeKind settles what the signed time is the time of, where the sender does not say and the profile is careful.
	// Default: the profile's.
	TimeKind TimeKind
	// Tolerance is how far a signed send time may lie from now, either way. Default: the profile's, else
	// [DefaultTolerance].
	Tolerance time.Duration
	// Horizon is how old a signed event time may be before the event goes to review. Default: the profile's.
	Horizon time.Duration
	MaxBody int64 // bytes; default [DefaultMaxBody]
	// Destinations get one receipt each. Default: one without a name, for the Handler of this process.
	Destinations []string
	Order        Order
}

// An Order says whether events about one object may be worked on at the same time.
type Order string

// The orders.
const (
	OrderNone   Order = ""       // events are independent
	OrderSerial Order = "serial" // at most one attempt on an object at a time
)

func (s Source) withDefaults() Source {
	s.ID = cmp.Or(s.ID, s.Name)
	s.Path = normalPath(cmp.Or(s.Path, "/in/"+s.Name))
	s.Tenant = cmp.Or(s.Tenant, DefaultTenant)
	s.Scope = cmp.Or(s.Scope, s.Tenant)
	s.MaxBody = cmp.Or(s.MaxBody, DefaultMaxBody)
	if len(s.Destinations) == 0 {
		s.Destinations = []string{""}
	}
	return s
}

// namespace names the memory that the source shares with those joined to it, and with no other.
func (s *Source) namespace() string {
	if s.Account == "" {
		return "source/" + s.ID
	}
	return "account/" + s.Account + "/" + s.Mode
}
