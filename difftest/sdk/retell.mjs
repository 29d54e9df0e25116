import Retell from 'retell-sdk'

export default {
  sign: async (r) => ({ headers: { 'X-Retell-Signature': await Retell.sign(r.text, r.secret) } }),
  verify: (r) => Retell.verify(r.text, r.secret, r.headers['x-retell-signature']),
}
