import { WebhookEventVerifier } from '@onfido/api'
import { verified } from './verified.mjs'

export default {
  verify: (r) => verified(() => new WebhookEventVerifier(r.secret).readPayload(r.body, r.headers['x-sha2-signature'])),
}
