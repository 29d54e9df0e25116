import ModernTreasury from 'modern-treasury'

const { webhooks } = new ModernTreasury({ apiKey: 'unused', organizationID: 'unused' })

export default {
  sign: (r) => ({ headers: { 'X-Signature': webhooks.getSignature(r.text, { key: r.secret }) } }),
  verify: (r) => webhooks.validateSignature(r.text, r.headers, { key: r.secret }),
}
