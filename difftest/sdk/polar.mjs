import { validateEvent, WebhookVerificationError } from '@polar-sh/sdk/webhooks'

export default {
  // What is thrown beside WebhookVerificationError is about a type of event that this version does not know.
  verify(r) {
    try {
      validateEvent(r.body, r.headers, r.secret)
    } catch (e) {
      if (e instanceof WebhookVerificationError) throw e
    }
    return true
  },
}
