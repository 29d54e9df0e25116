import { hmacValidator } from '@adyen/api-library'

const validator = new hmacValidator()

export default {
  sign: (r) => ({ headers: { HmacSignature: validator.calculateHmac(r.text, r.secret) } }),
  verify: (r) => validator.validateHMACSignature(r.secret, r.headers['hmacsignature'], r.text),
}
