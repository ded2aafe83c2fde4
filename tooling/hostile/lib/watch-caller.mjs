/**
 * Process that measures what another caller notices during the load: health checks, reads and submissions of a second key,
 * and the heap of the server. It sends every finding to its parent. A separate process, so that the load does not delay it.
 */
import { Agent, request } from 'node:http'

const [, , url, key] = process.argv

/** Sends a finding to the parent process. */
const report = (finding) => process.send?.(finding)

/** Times between two measurements, in milliseconds. */
const HEALTH_MS = 100
const CALL_MS = 250
const HEAP_MS = 1_000

/** Maximum time for an answer, in milliseconds. */
const TIMEOUT_MS = 30_000

const agent = new Agent({ keepAlive: true, maxSockets: 50 })
const authorization = `Bearer ${key}`

function send(path, { method = 'GET', body, headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), {
      agent,
      method,
      headers: {
        ...headers,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (data) => (text += data))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode, text }))
    })
    sent.end(body)
  })
}

/** Measures a request again and again. `overlaps` starts the next one without waiting for the last. */
function measure(kind, everyMs, { expected, make, overlaps = false }) {
  const once = async () => {
    const startedAt = performance.now()
    try {
      const { status, text } = await make()
      const problem = status === expected ? undefined : `${status} ${text.slice(0, 300)}`
      report({ kind, ms: performance.now() - startedAt, problem })
    } catch (error) {
      const problem = `no answer: ${error.message}`
      report({ kind, ms: performance.now() - startedAt, problem })
    }
  }
  const tick = () => {
    const done = once()
    if (overlaps) setTimeout(tick, everyMs)
    else void done.then(() => setTimeout(tick, everyMs))
  }
  tick()
}

const polite = { headers: { authorization } }
measure('health', HEALTH_MS, {
  expected: 200,
  overlaps: true,
  make: () => send('/api/health/live'),
})
measure('read', CALL_MS, { expected: 200, make: () => send('/api/runs?limit=5', polite) })
measure('submit', CALL_MS, {
  expected: 202,
  make: () => send('/api/runs', { ...polite, method: 'POST', body: '{"inputs":{"topic":"tea"}}' }),
})
setInterval(() => {
  send('/metrics', polite).then(
    ({ text }) => {
      const heap = /^nodejs_heap_used_bytes(?:\{\})? (\S+)$/m.exec(text)?.[1]
      if (heap !== undefined) report({ kind: 'heap', bytes: Number(heap) })
    },
    () => undefined,
  )
}, HEAP_MS)
