import Lithic from 'lithic'
import { verified } from './verified.mjs'

const { webhooks } = new Lithic({ apiKey: 'unused' })

export default {
  verify: (r) => verified(() => webhooks.verifySignature(r.text, r.headers, r.secret)),
}
