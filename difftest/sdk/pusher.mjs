import Pusher from 'pusher'

export default {
  sign: (r) => ({ headers: { 'X-Pusher-Signature': new Pusher.Token('unused', r.secret).sign(r.text) } }),
  // The type and the app's key are not signed: the SDK asks for them before it looks at the signature.
  verify(r) {
    const headers = { ...r.headers, 'content-type': 'application/json', 'x-pusher-key': 'unused' }
    return new Pusher({ appId: 'unused', key: 'unused', secret: r.secret }).webhook({ headers, rawBody: r.text }).isValid()
  },
}
