import Stripe from 'stripe'

const { webhooks } = new Stripe('sk_test_unused')

export default {
  sign(r) {
    const opts = { payload: r.text, secret: r.secret, timestamp: r.now / 1000 }
    return { headers: { 'Stripe-Signature': webhooks.generateTestHeaderString(opts) } }
  },
  verify: (r) => webhooks.signature.verifyHeader(r.body, r.headers['stripe-signature'], r.secret, r.tolerance),
}
