import pagarme from 'pagarme'

const { calculateSignature, verifySignature } = pagarme.postback

export default {
  sign: (r) => ({ headers: { 'X-Hub-Signature': 'sha1=' + calculateSignature(r.secret, r.text) } }),
  // The README has the caller remove the prefix.
  verify: (r) => verifySignature(r.secret, r.text, r.headers['x-hub-signature'].replace('sha1=', '')),
}
