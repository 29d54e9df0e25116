package fieldcases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// A fieldCase is one fault and its right outcome. The words are those of the format.
type fieldCase struct {
	N        int     `json:"n"`
	Title    string  `json:"title"`
	Kind     string  `json:"kind"`
	Provider string  `json:"provider"`
	Config   setup   `json:"config"`
	Starts   []start `json:"starts"`
	Steps    []step  `json:"steps"`
	Note     string  `json:"note"`
	Manual   string  `json:"manual"`
}

type start struct {
	Secrets []string `json:"secrets"`
	Start   string   `json:"start"`
}

type setup struct {
	BaseTime int64    `json:"base_time_unix"`
	Gateway  gatewayC `json:"gateway"`
	Sources  []source `json:"sources"`
	Handler  []rule   `json:"handler"`
}

type gatewayC struct {
	TrustedProxies []string  `json:"trusted_proxies"`
	PublicURL      string    `json:"public_url"`
	Instances      int       `json:"instances"`
	Workers        int       `json:"workers"`
	Limits         *limits   `json:"limits"`
	LeaseS         float64   `json:"lease_s"`
	RetryDelaysS   []float64 `json:"retry_delays_s"`
	TZ             string    `json:"tz"`
}

type limits struct {
	ReadHeaderS float64 `json:"read_header_s"`
	ReadBodyS   float64 `json:"read_body_s"`
}

type source struct {
	Path            string         `json:"path"`
	Provider        string         `json:"provider"`
	Variant         string         `json:"variant"`
	Scheme          *scheme        `json:"scheme"`
	Secrets         []string       `json:"secrets"`
	PublicKeys      []string       `json:"public_keys"`
	Params          map[string]any `json:"params"`
	PathSecret      string         `json:"path_secret"`
	ToleranceS      *float64       `json:"tolerance_s"`
	TimeKind        string         `json:"time_kind"`
	Late            string         `json:"late"`
	Order           *order         `json:"order"`
	Tenant          string         `json:"tenant"`
	Account         string         `json:"account"`
	AccountField    string         `json:"account_field"`
	AllowedAccounts []string       `json:"allowed_accounts"`
	Mode            *mode          `json:"mode"`
	Types           []string       `json:"types"`
	MaxBody         int64          `json:"max_body"`
	Respond         *respond       `json:"respond"`
	Forward         *forward       `json:"forward"`
	Paused          bool           `json:"paused"`
	RetentionS      float64        `json:"retention_s"`
	BodyRetentionS  float64        `json:"body_retention_s"`
	SilenceS        float64        `json:"silence_s"`
	IPAllow         []string       `json:"ip_allow"`
}

type mode struct {
	Want    string `json:"want"`
	Missing string `json:"missing"`
}

type respond struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
}

type forward struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
}

type order struct {
	Mode        string   `json:"mode"`
	Object      string   `json:"object"`
	Version     string   `json:"version"`
	DeleteTypes []string `json:"delete_types"`
	MaxBlockS   float64  `json:"max_block_s"`
}

// scheme is a home-made sender's.
type scheme struct {
	Alg           string     `json:"alg"`
	Header        string     `json:"header"`
	Format        string     `json:"format"`
	Encoding      string     `json:"encoding"`
	KeyEncoding   string     `json:"key_encoding"`
	SignedContent string     `json:"signed_content"`
	Timestamp     *timestamp `json:"timestamp"`
	Key           *places    `json:"key"`
	Type          *place     `json:"type"`
	DeliveryID    *place     `json:"delivery_id"`
	Handshake     string     `json:"handshake"`
}

type timestamp struct {
	Where string `json:"where"`
	Unit  string `json:"unit"`
	Kind  string `json:"kind"`
}

type places struct {
	Where []string `json:"where"`
}

type place struct {
	Where string `json:"where"`
}

// rule is what the handler does with an event.
type rule struct {
	When         when    `json:"when"`
	Do           string  `json:"do"`
	Then         string  `json:"then"`
	Seconds      float64 `json:"seconds"`
	Times        int     `json:"times"`
	UntilOffsetS float64 `json:"until_offset_s"`
}

type when struct {
	Contains string `json:"contains"`
	Type     string `json:"type"`
}

type step struct {
	AtOffsetS        float64     `json:"at_offset_s"`
	Method           string      `json:"method"`
	Path             string      `json:"path"`
	Headers          [][2]string `json:"headers"`
	Body             string      `json:"body"`
	BodyBase64       []byte      `json:"body_base64"`
	BodyGenerator    *generator  `json:"body_generator"`
	Peer             string      `json:"peer"`
	Repeat           int         `json:"repeat"`
	RepeatModulo     int         `json:"repeat_modulo"`
	Concurrency      string      `json:"concurrency"`
	Sign             bool        `json:"sign"`
	RetryUnavailable bool        `json:"retry_unavailable"`
	Transport        *transport  `json:"transport"`
	Before           []string    `json:"before"`
	AfterActions     []string    `json:"after_actions"`
	Expect           expect      `json:"expect"`
}

type generator struct {
	Prefix string `json:"prefix"`
	Repeat string `json:"repeat"`
	Count  int    `json:"count"`
	Suffix string `json:"suffix"`
}

type transport struct {
	Framing       string       `json:"framing"`
	ChunkSizes    []int        `json:"chunk_sizes"`
	ContentLength *json.Number `json:"content_length"`
	WaitContinueS float64      `json:"wait_continue_s"`
	HTTP          string       `json:"http"`
	Slow          string       `json:"slow"`
	BytesPerS     float64      `json:"bytes_per_s"`
}

type expect struct {
	Status        oneOf   `json:"status"`
	Decision      oneOf   `json:"decision"`
	Answer        *answer `json:"answer"`
	WithinS       float64 `json:"within_s"`
	ClosedWithinS float64 `json:"closed_within_s"`
	ReadBytesMax  int     `json:"read_bytes_max"`
	After         *after  `json:"after"`
}

type answer struct {
	Headers       map[string]string `json:"headers"`
	HeadersAbsent []string          `json:"headers_absent"`
	ContentType   string            `json:"content_type"`
	Body          *string           `json:"body"`
	JSON          any               `json:"json"`
	NotContains   []string          `json:"not_contains"`
	SameAsStep    *int              `json:"same_as_step"`
	NoRedirect    bool              `json:"no_redirect"`
}

type after struct {
	SettleS              float64         `json:"settle_s"`
	Runs                 []runs          `json:"runs"`
	TotalSuccesses       *int            `json:"total_successes"`
	MaxSuccessesPerEvent *int            `json:"max_successes_per_event"`
	Receipts             *int            `json:"receipts"`
	ReceiptStatus        []receiptStatus `json:"receipt_status"`
	Verdicts             map[string]int  `json:"verdicts"`
	SuccessOrder         [][]string      `json:"success_order"`
	MaxParallel          []parallel      `json:"max_parallel"`
	ReviewOpen           *int            `json:"review_open"`
	StoredBodyEqual      bool            `json:"stored_body_equal"`
	EventJSON            []eventJSON     `json:"event_json"`
	Key                  []contains      `json:"key"`
	Object               []contains      `json:"object"`
	LeaksForbidden       []string        `json:"leaks_forbidden"`
	ForwardNotContains   []string        `json:"forward_not_contains"`
	Outbound             string          `json:"outbound"`
	MemoryGrowthMaxMebi  float64         `json:"memory_growth_max_mib"`
	Alarms               []string        `json:"alarms"`
}

type runs struct {
	Event        string  `json:"event"`
	Successes    *int    `json:"successes"`
	SuccessesMin *int    `json:"successes_min"`
	Attempts     *int    `json:"attempts"`
	WithinS      float64 `json:"within_s"`
}

type receiptStatus struct {
	Event string `json:"event"`
	Is    string `json:"is"`
	Count *int   `json:"count"`
}

type parallel struct {
	Events []string `json:"events"`
	Max    int      `json:"max"`
}

type eventJSON struct {
	Event  string `json:"event"`
	Path   string `json:"path"`
	Equals any    `json:"equals"`
}

type contains struct {
	Event    string `json:"event"`
	Contains string `json:"contains"`
}

// oneOf is a value or a list of them, as text.
type oneOf []string

func (o *oneOf) UnmarshalJSON(text []byte) error {
	var values []json.RawMessage
	if text[0] != '[' {
		values = []json.RawMessage{text}
	} else if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	for _, v := range values {
		*o = append(*o, string(bytes.Trim(v, `"`)))
	}
	return nil
}

func (o oneOf) has(v string) bool { return slices.Contains(o, v) }

// A loaded case, or why it is not understood.
type loaded struct {
	n   int
	c   *fieldCase
	err error
}

// load reads a file of cases. One that is not understood does not spoil the others.
func load(name string) ([]loaded, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	all := make([]loaded, 0, len(raw))
	for i, r := range raw {
		var numbered struct{ N int }
		if err := json.Unmarshal(r, &numbered); err != nil {
			numbered.N = -i
		}
		c := new(fieldCase)
		d := json.NewDecoder(bytes.NewReader(r))
		d.DisallowUnknownFields()
		d.UseNumber()
		if err := d.Decode(c); err != nil {
			all = append(all, loaded{n: numbered.N, err: fmt.Errorf("not understood: %w", err)})
			continue
		}
		all = append(all, loaded{n: numbered.N, c: c})
	}
	return all, nil
}
