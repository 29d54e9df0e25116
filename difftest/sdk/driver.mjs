// The driver answers requests, one JSON line each, with what a sender's SDK says: {sdk, op: "sign"|"verify", …} gives
// {id, ok, error} or, signed, {id, headers, body, url}. They are answered in order; the clock is the request's own.
import { createInterface } from 'node:readline'

const RealDate = Date
let now = 0
globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [now] : args))
  }
  static now() {
    return now
  }
}

// Nothing an SDK says may get between the answers.
console.log = console.warn = console.info = console.debug = console.error = () => {}

// What Node's own server keeps the first of; it joins the values of all other headers.
const single = new Set(['authorization', 'content-length', 'content-type', 'host', 'user-agent'])

function asNodeHas(pairs) {
  const headers = {}
  for (const [name, value] of pairs) {
    const key = name.toLowerCase()
    if (!(key in headers)) headers[key] = value
    else if (!single.has(key)) headers[key] += ', ' + value
  }
  return headers
}

async function answer(request) {
  const { default: sdk } = await import(`./${request.sdk}.mjs`)
  const body = Buffer.from(request.body, 'base64')
  const r = { ...request, headers: asNodeHas(request.headers ?? []), body, text: body.toString('utf8') }
  r.json = () => JSON.parse(new TextDecoder().decode(body)) // what express.json hands to an application
  now = request.now
  if (request.op === 'sign') return await sdk.sign(r)
  try {
    return { ok: Boolean(await sdk.verify(r)) }
  } catch (e) {
    return { ok: false, error: String(e?.message ?? e) }
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const request = JSON.parse(line)
  let said
  try {
    said = await answer(request)
  } catch (e) {
    said = { broken: String(e?.stack ?? e) }
  }
  if (Buffer.isBuffer(said.body)) said.body = said.body.toString('base64')
  process.stdout.write(JSON.stringify({ id: request.id, ...said }) + '\n')
}
