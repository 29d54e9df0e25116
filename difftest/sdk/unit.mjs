import { Unit } from '@unit-finance/unit-node-sdk'

const { webhooks } = new Unit('unused', 'https://unit.example.test')

export default {
  verify: (r) => webhooks.verify(r.headers['x-unit-signature'], r.secret, r.json()),
}
