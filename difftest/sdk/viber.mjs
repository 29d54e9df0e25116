import Validator from 'viber-bot/lib/message/message-validator.js'

const quiet = { debug() {} }

export default {
  verify: (r) => new Validator(quiet, r.secret).validateMessage(r.headers['x-viber-content-signature'], r.body),
}
