import { parse } from 'node:querystring'
import { createHash } from 'node:crypto'
import twilio from 'twilio'

// What express.urlencoded and express.json make of a body.
function parsed(r) {
  if ((r.headers['content-type'] ?? '').includes('json')) return r.json()
  return { ...parse(r.text) }
}

export default {
  sign(r) {
    const json = r.headers['content-type'].includes('json')
    let url = r.url
    if (json) url += (url.includes('?') ? '&' : '?') + 'bodySHA256=' + createHash('sha256').update(r.body).digest('hex')
    const params = json ? null : parsed(r)
    return { url, headers: { 'X-Twilio-Signature': twilio.getExpectedTwilioSignature(r.secret, url, params, r.algorithm) } }
  },
  verify(r) {
    const request = { header: (name) => r.headers[name.toLowerCase()], rawBody: r.text, body: {} }
    if (!r.url.includes('bodySHA256')) request.body = parsed(r)
    return twilio.validateIncomingRequest(request, r.secret, { url: r.url, algorithm: r.algorithm })
  },
}
