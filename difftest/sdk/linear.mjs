import { LinearWebhookClient } from '@linear/sdk/webhooks'

export default {
  verify: (r) => new LinearWebhookClient(r.secret).verify(r.body, r.headers['linear-signature']),
}
