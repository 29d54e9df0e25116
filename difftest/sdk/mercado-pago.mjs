import { WebhookSignatureValidator } from 'mercadopago'

export default {
  verify(r) {
    WebhookSignatureValidator.validate({
      xSignature: r.headers['x-signature'],
      xRequestId: r.headers['x-request-id'],
      dataId: new URLSearchParams(r.query).get('data.id'),
      secret: r.secret,
    })
    return true
  },
}
