import { Signature } from '@hubspot/api-client'

export default {
  sign(r) {
    const signed = { clientSecret: r.secret, requestBody: r.text, url: r.configured, timestamp: r.now }
    return {
      headers: {
        'X-HubSpot-Request-Timestamp': String(r.now),
        'X-HubSpot-Signature-v3': Signature.getSignature('POST', 'v3', signed),
      },
    }
  },
  verify: (r) =>
    Signature.isValid({
      method: 'POST',
      signatureVersion: 'v3',
      signature: r.headers['x-hubspot-signature-v3'],
      clientSecret: r.secret,
      requestBody: r.text,
      url: r.configured,
      timestamp: r.headers['x-hubspot-request-timestamp'],
    }),
}
