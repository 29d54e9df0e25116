import { NumbersCallbackWebhooks } from '@sinch/sdk-core'

export default {
  verify: (r) => new NumbersCallbackWebhooks(r.secret).validateAuthenticationHeader(r.headers, r.text, '/', 'POST'),
}
