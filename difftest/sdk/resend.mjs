import { Resend } from 'resend'
import { verified } from './verified.mjs'

const { webhooks } = new Resend('re_unused')

export default {
  verify: (r) =>
    verified(() =>
      webhooks.verify({
        payload: r.text,
        headers: { id: r.headers['svix-id'], timestamp: r.headers['svix-timestamp'], signature: r.headers['svix-signature'] },
        webhookSecret: r.secret,
      }),
    ),
}
