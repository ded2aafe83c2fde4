/** Plays a booking service with idempotency keys, whose cars are sold out. */
import { localServer } from '../../test-kit/local-server.ts'

export interface BookingsStandIn {
  readonly url: string
  /** Actions that took effect, in order, such as `cancel hotel-1`. */
  readonly effects: readonly string[]
  /** Paths of all requests, in order. */
  readonly requests: readonly string[]
  /** Resolves when the request that gets no answer has taken effect. */
  readonly held: Promise<void>
}

/** Starts the service until the end of the test. The first request for the path `silentAt` takes effect and gets no answer. */
export async function startBookings(silentAt: string): Promise<BookingsStandIn> {
  const effects: string[] = []
  const requests: string[] = []
  const answers = new Map<string, readonly [status: number, text: string]>()
  const { promise: held, resolve: hold } = Promise.withResolvers<void>()
  const { origin } = await localServer((response, { url, headers }) => {
    const key = String(headers['idempotency-key'])
    const isSilent = url === silentAt && !requests.includes(url)
    requests.push(url)
    const answer = answers.get(key) ?? act(url, effects)
    answers.set(key, answer)
    if (isSilent) return hold()
    return response.writeHead(answer[0]).end(answer[1])
  })
  return { url: origin, effects, requests, held }
}

/** Performs an action and returns the status and the text of its answer. */
function act(url: string, effects: string[]): readonly [status: number, text: string] {
  const [, action = '', subject = ''] = url.split('/')
  if (subject === 'car') return [409, 'sold out']
  if (action === 'cancel' && !effects.includes(`book ${subject}`)) return [404, 'no such booking']
  const id = action === 'book' ? `${subject}-${effects.length + 1}` : subject
  effects.push(`${action} ${id}`)
  return [200, id]
}
