import { EventWebhook } from '@sendgrid/eventwebhook'

const webhook = new EventWebhook()

export default {
  verify: (r) =>
    webhook.verifySignature(
      webhook.convertPublicKeyToECDSA(r.publicKey),
      r.body,
      r.headers['x-twilio-email-event-webhook-signature'],
      r.headers['x-twilio-email-event-webhook-timestamp'],
    ),
}
