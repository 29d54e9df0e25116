import { WebhookSignature } from 'fintoc'

export default {
  sign(r) {
    const t = r.now / 1000
    return { headers: { 'Fintoc-Signature': `t=${t},v1=${WebhookSignature.computeSignature(r.body, t, r.secret)}` } }
  },
  verify(r) {
    WebhookSignature.verifyHeader(r.body, r.headers['fintoc-signature'], r.secret, r.tolerance)
    return true
  },
}
