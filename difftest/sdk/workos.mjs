import { WorkOS } from '@workos-inc/node'

const { webhooks } = new WorkOS('unused')

export default {
  async sign(r) {
    const signature = await webhooks.computeSignature(r.now, r.json(), r.secret)
    return { headers: { 'WorkOS-Signature': `t=${r.now}, v1=${signature}` } }
  },
  verify: (r) =>
    webhooks.verifyHeader({
      payload: r.json(),
      sigHeader: r.headers['workos-signature'],
      secret: r.secret,
      tolerance: r.tolerance * 1000,
    }),
}
