import { ConversationCallbackWebhooks } from '@sinch/sdk-core'

export default {
  verify: (r) => new ConversationCallbackWebhooks(r.secret).validateAuthenticationHeader(r.headers, r.text, '/', 'POST'),
}
