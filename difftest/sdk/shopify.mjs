import '@shopify/shopify-api/adapters/node'
import { ApiVersion, shopifyApi } from '@shopify/shopify-api'

const apps = new Map()

function app(secret) {
  if (!apps.has(secret)) {
    apps.set(
      secret,
      shopifyApi({
        apiKey: 'unused',
        apiSecretKey: secret,
        hostName: 'hooks.example.test',
        apiVersion: ApiVersion.July25 ?? Object.values(ApiVersion)[0],
        isEmbeddedApp: false,
        logger: { log() {} },
      }),
    )
  }
  return apps.get(secret)
}

export default {
  // A delivery without topic, shop or id is refused after the signature was found right; only that is compared.
  async verify(r) {
    const rawRequest = { headers: r.headers, method: 'POST', url: '/' }
    const result = await app(r.secret).webhooks.validate({ rawBody: r.text, rawRequest, rawResponse: {} })
    return result.valid || result.reason === 'missing_headers'
  },
}
