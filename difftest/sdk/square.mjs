import { WebhooksHelper } from 'square'

export default {
  verify: (r) =>
    WebhooksHelper.verifySignature({
      requestBody: r.text,
      signatureHeader: r.headers['x-square-hmacsha256-signature'],
      signatureKey: r.secret,
      notificationUrl: r.configured,
    }),
}
