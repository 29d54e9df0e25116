import { verifyWebhook } from '@clerk/backend/webhooks'

export default {
  async verify(r) {
    const request = new Request('https://hooks.example.test/', { method: 'POST', headers: r.headers, body: r.body })
    try {
      await verifyWebhook(request, { signingSecret: r.secret })
    } catch (e) {
      if (!/JSON/.test(e.message)) throw e // a body that is no JSON is read after it was found right
    }
    return true
  },
}
