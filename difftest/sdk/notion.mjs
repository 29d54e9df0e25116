import { signWebhookPayload, verifyWebhookSignature } from '@notionhq/client'

export default {
  sign: async (r) => ({
    headers: { 'X-Notion-Signature': await signWebhookPayload({ body: r.text, verificationToken: r.secret }) },
  }),
  verify: (r) =>
    verifyWebhookSignature({ body: r.body, signature: r.headers['x-notion-signature'], verificationToken: r.secret }),
}
