import { WebflowClient } from 'webflow-api'

const { webhooks } = new WebflowClient({ accessToken: 'unused' })

export default {
  verify: (r) => webhooks.verifySignature({ headers: r.headers, body: r.text, secret: r.secret }),
}
