import twilio from './twilio.mjs'

const sha256 = (r) => ({ ...r, algorithm: 'HMAC_SHA256' })

export default { sign: (r) => twilio.sign(sha256(r)), verify: (r) => twilio.verify(sha256(r)) }
