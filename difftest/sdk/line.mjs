import { validateSignature } from '@line/bot-sdk'

export default {
  verify: (r) => validateSignature(r.body, r.secret, r.headers['x-line-signature']),
}
