import { sign, verify } from '@octokit/webhooks-methods'

export default {
  sign: async (r) => ({ headers: { 'X-Hub-Signature-256': await sign(r.secret, r.text) } }),
  verify: (r) => verify(r.secret, r.text, r.headers['x-hub-signature-256']),
}
