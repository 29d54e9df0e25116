import { verifyWebhookSignature } from '@hookdeck/sdk/webhooks/helpers.js'

export default {
  async verify(r) {
    const result = await verifyWebhookSignature({ headers: r.headers, rawBody: r.text, signingSecret: r.secret })
    return result.isValidSignature
  },
}
