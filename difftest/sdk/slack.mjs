import { verifySlackRequest } from '@slack/bolt'

export default {
  verify(r) {
    verifySlackRequest({ signingSecret: r.secret, body: r.text, headers: r.headers })
    return true
  },
}
