import { Paddle } from '@paddle/paddle-node-sdk'

const { webhooks } = new Paddle('unused')

export default {
  verify: (r) => webhooks.isSignatureValid(r.text, r.secret, r.headers['paddle-signature']),
}
