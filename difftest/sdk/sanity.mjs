import { encodeSignatureHeader, isValidSignature } from '@sanity/webhook'

export default {
  sign: async (r) => ({ headers: { 'sanity-webhook-signature': await encodeSignatureHeader(r.text, r.now, r.secret) } }),
  verify: (r) => isValidSignature(r.text, r.headers['sanity-webhook-signature'], r.secret),
}
