import { Webhook } from 'svix'
import { verified } from './verified.mjs'

export default {
  sign(r) {
    const headers = { 'Svix-Id': r.messageID, 'Svix-Timestamp': String(r.now / 1000) }
    headers['Svix-Signature'] = new Webhook(r.secret).sign(r.messageID, new Date(r.now), r.text)
    return { headers }
  },
  verify: (r) => verified(() => new Webhook(r.secret).verify(r.body, r.headers)),
}
