import { WebhooksManager } from 'box-node-sdk/managers/webhooks'

export default {
  // Either of the two keys may be the source's.
  verify: (r) =>
    WebhooksManager.validateMessage(r.text, r.headers, r.secret, { secondaryKey: r.secret, maxAge: r.tolerance }),
}
