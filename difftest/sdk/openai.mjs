import OpenAI from 'openai'

const { webhooks } = new OpenAI({ apiKey: 'unused' })

export default {
  async verify(r) {
    await webhooks.verifySignature(r.text, r.headers, r.secret, r.tolerance)
    return true
  },
}
