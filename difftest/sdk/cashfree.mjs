import { Cashfree, CFEnvironment } from 'cashfree-pg'
import { verified } from './verified.mjs'

export default {
  verify: (r) =>
    verified(() =>
      new Cashfree(CFEnvironment.SANDBOX, 'unused', r.secret).PGVerifyWebhookSignature(
        r.headers['x-webhook-signature'],
        r.text,
        r.headers['x-webhook-timestamp'],
      ),
    ),
}
