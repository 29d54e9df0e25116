import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js'
import { verified } from './verified.mjs'

const { webhooks } = new ElevenLabsClient({ apiKey: 'unused' })

export default {
  verify: (r) => verified(() => webhooks.constructEvent(r.text, r.headers['elevenlabs-signature'], r.secret)),
}
