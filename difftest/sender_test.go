package difftest

import (
	"time"

	"github.com/recibohq/recibo"
)

// A sdk is an official library and the sender of the catalogue that it is compared with.
type sdk struct {
	name     string // of the adapter, sdk/NAME.mjs
	npm      string
	provider string // default: name
	variant  string
	signs    bool // the library has a function that signs too, if only for tests

	tolerance time.Duration   // the library's; default: the profile's, else recibo's
	timeKind  recibo.TimeKind // where the library settles what the profile leaves open

	bodies    bodies
	canonical bool     // the library signs what it would write itself, not the bytes that came
	urls      []string // addresses to be signed; default: one
	queried   bool     // what stands in the address counts
}

// Bodies says which bodies an SDK takes.
type bodies int

const (
	anyText bodies = iota
	anyJSON
	objects       // JSON objects, with the members of the sample
	notifications // Adyen's
	forms
	formsOrJSON
)

const address = "https://hooks.example.test/in/sample"

var addresses = []string{
	address, "https://hooks.example.test:8443/in/sample", "http://hooks.example.test/in/sample/?a=1&b=x%20y", address + "?who=O'Brien",
}

var sdks = []sdk{
	{name: "adyen", npm: "@adyen/api-library", signs: true, bodies: notifications},
	{name: "adyen-platform", npm: "@adyen/api-library", signs: true},
	{name: "box", npm: "box-node-sdk"},
	{name: "cashfree", npm: "cashfree-pg"},
	{name: "clerk", npm: "@clerk/backend"},
	{name: "coinbase-commerce", npm: "coinbase-commerce-node", signs: true},
	{name: "crisp", npm: "crisp-api", bodies: objects, canonical: true},
	{name: "discord", npm: "discord-interactions"},
	{name: "easypost", npm: "@easypost/api", bodies: anyJSON},
	{name: "elevenlabs", npm: "@elevenlabs/elevenlabs-js"},
	{name: "fintoc", npm: "fintoc", signs: true},
	{name: "gocardless", npm: "gocardless-nodejs"},
	{name: "hookdeck", npm: "@hookdeck/sdk"},
	{name: "hubspot", npm: "@hubspot/api-client", signs: true, urls: addresses},
	{name: "line", npm: "@line/bot-sdk"},
	{name: "linear", npm: "@linear/sdk", bodies: objects, timeKind: recibo.SendTime, tolerance: time.Minute},
	{name: "lithic", npm: "lithic"},
	{name: "mercado-pago", npm: "mercadopago", bodies: objects, queried: true, urls: []string{address, address + "?data.id=pay-7f3a&type=order"}},
	{name: "modern-treasury", npm: "modern-treasury", signs: true},
	{name: "mux", npm: "@mux/mux-node"},
	{name: "notion", npm: "@notionhq/client", signs: true},
	{name: "octokit", npm: "@octokit/webhooks-methods", provider: "github", signs: true},
	{name: "onfido", npm: "@onfido/api"},
	{name: "openai", npm: "openai"},
	{name: "paddle", npm: "@paddle/paddle-node-sdk", tolerance: 5 * time.Second},
	{name: "pagarme", npm: "pagarme", provider: "pagarme-v1", signs: true, bodies: forms},
	{name: "polar", npm: "@polar-sh/sdk"},
	{name: "pusher", npm: "pusher", signs: true, bodies: anyJSON},
	{name: "razorpay", npm: "razorpay"},
	{name: "replicate", npm: "replicate"},
	{name: "resend", npm: "resend"},
	{name: "retell", npm: "retell-sdk", signs: true},
	{name: "sanity", npm: "@sanity/webhook", signs: true},
	{name: "sendgrid", npm: "@sendgrid/eventwebhook"},
	{name: "shopify", npm: "@shopify/shopify-api"},
	{name: "sinch-conversation", npm: "@sinch/sdk-core", provider: "sinch", variant: "webhook"},
	{name: "sinch-numbers", npm: "@sinch/sdk-core", provider: "sinch"},
	{name: "slack", npm: "@slack/bolt"},
	{name: "square", npm: "square", urls: addresses},
	{name: "standardwebhooks", npm: "standardwebhooks", provider: "standard-webhooks", signs: true},
	{name: "stripe", npm: "stripe", signs: true},
	{name: "svix", npm: "svix", signs: true},
	{name: "twilio", npm: "twilio", signs: true, bodies: formsOrJSON, urls: addresses, queried: true},
	{
		name: "twilio-shared-key", npm: "twilio", provider: "twilio", variant: "shared-key", signs: true, bodies: formsOrJSON,
		urls: addresses, queried: true,
	},
	{name: "unit", npm: "@unit-finance/unit-node-sdk", bodies: anyJSON, canonical: true},
	{name: "viber", npm: "viber-bot"},
	{name: "webflow", npm: "webflow-api"},
	{name: "workos", npm: "@workos-inc/node", signs: true, bodies: anyJSON, canonical: true},
}
