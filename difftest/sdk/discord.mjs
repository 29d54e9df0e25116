import { verifyKey } from 'discord-interactions'

export default {
  verify: (r) => verifyKey(r.body, r.headers['x-signature-ed25519'], r.headers['x-signature-timestamp'], r.publicKey),
}
