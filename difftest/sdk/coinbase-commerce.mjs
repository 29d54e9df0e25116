import commerce from 'coinbase-commerce-node'

export default {
  sign: (r) => ({ headers: { 'X-CC-Webhook-Signature': commerce.Webhook.computeSignature(r.text, r.secret) } }),
  verify: (r) => commerce.Webhook.verifySigHeader(r.text, r.headers['x-cc-webhook-signature'], r.secret),
}
