import Razorpay from 'razorpay'

export default {
  verify: (r) => Razorpay.validateWebhookSignature(r.text, r.headers['x-razorpay-signature'], r.secret),
}
