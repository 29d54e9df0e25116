import { validateWebhook } from 'replicate'

export default {
  verify: (r) =>
    validateWebhook({
      id: r.headers['webhook-id'],
      timestamp: r.headers['webhook-timestamp'],
      signature: r.headers['webhook-signature'],
      body: r.text,
      secret: r.secret,
    }),
}
