import EasyPost from '@easypost/api'

const { Utils } = new EasyPost('unused')

export default {
  verify: (r) => Utils.validateWebhook(r.body, r.headers, r.secret),
}
