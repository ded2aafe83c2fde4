/**
 * Process that measures what another caller notices during the load: health checks, reads, submissions and results of a second
 * key, and the heap of the server. It sends every finding to its parent. A separate process, so that the load does not delay it.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const [, , url, key] = process.argv

/** Sends a finding to the parent process. */
const report = (finding) => process.send?.(finding)

/** Times between two measurements, in milliseconds. */
const HEALTH_MS = 100
const CALL_MS = 250
const HEAP_MS = 1_000

/** Maximum time for a result, in seconds. */
const RESULT_S = 25

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

/** Sends a request and reports its time, and its problem if it has another status than expected. */
async function measure(kind, path, { expected = 200, ...options } = {}) {
  const startedAt = performance.now()
  try {
    const { status, text } = await send(path, options)
    const problem = status === expected ? undefined : `${status} ${text.slice(0, 300)}`
    report({ kind, ms: performance.now() - startedAt, problem })
  } catch (error) {
    const problem = `no answer: ${error.message}`
    report({ kind, ms: performance.now() - startedAt, problem })
  }
}

/** Calls `once` again and again, each time after the last call has ended. */
async function repeat(everyMs, once) {
  for (;;) {
    await once()
    await sleep(everyMs)
  }
}

const polite = { headers: { authorization } }
const submission = { ...polite, method: 'POST', body: '{"inputs":{"topic":"tea"}}' }
setInterval(() => void measure('health', '/api/health/live'), HEALTH_MS)
void repeat(CALL_MS, () => measure('read', '/api/runs?limit=5', polite))
// Runs of a key start in order: after the result, no earlier run is unfinished.
void repeat(CALL_MS, async () => {
  await measure('submit', '/api/runs', { ...submission, expected: 202 })
  await measure('result', `/api/runs?wait=${RESULT_S}`, submission)
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
