import { Crisp } from 'crisp-api'

// verifyHook is the same check, for a client that is bound to an HTTP server.
const client = new Crisp()

export default {
  verify: (r) =>
    client.verifyWidget(r.secret, r.json(), r.headers['x-crisp-request-timestamp'], r.headers['x-crisp-signature']),
}
