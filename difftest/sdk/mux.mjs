import Mux from '@mux/mux-node'

const { webhooks } = new Mux({ tokenId: 'unused', tokenSecret: 'unused' })

export default {
  async verify(r) {
    await webhooks.verifySignature(r.text, r.headers, r.secret)
    return true
  },
}
