import { Webhook } from 'standardwebhooks'

export default {
  sign(r) {
    const headers = { 'Webhook-Id': r.messageID, 'Webhook-Timestamp': String(r.now / 1000) }
    headers['Webhook-Signature'] = new Webhook(r.secret).sign(r.messageID, new Date(r.now), r.text)
    return { headers }
  },
  verify(r) {
    new Webhook(r.secret).verify(r.body, r.headers, { jsonParse: false })
    return true
  },
}
