import { hmacValidator } from '@adyen/api-library'

const validator = new hmacValidator()

const items = (r) => r.json().notificationItems.map((each) => each.NotificationRequestItem)

export default {
  sign(r) {
    const [item] = items(r)
    const signature = JSON.stringify(validator.calculateHmac(item, r.secret))
    return { headers: {}, body: Buffer.from(r.text.replace('"additionalData":{', `"additionalData":{"hmacSignature":${signature}`)) }
  },
  // A notification is accepted for those of its items that are right.
  verify: (r) =>
    items(r).some((item) => {
      try {
        return validator.validateHMAC(item, r.secret)
      } catch {
        return false
      }
    }),
}
