import { verifySignature } from 'gocardless-nodejs/webhooks'

export default {
  verify(r) {
    verifySignature(r.body, r.secret, r.headers['webhook-signature'])
    return true
  },
}
