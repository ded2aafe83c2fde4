/** Asking peers, as tests do it. */
import { peerConnector, type PeerConnectorOptions } from '../src/peer/peer-connector.ts'
import { testCall, type TestCall } from './test-call.ts'

import type {
  AgentCall,
  AgentConnector,
  AgentSession,
  AgentTurn,
  AgentUpdate,
} from '@tutti/agent-call'

/** A call that is no other. */
export function peerCall(facts: Partial<AgentCall> = {}): TestCall {
  return testCall({ idempotencyKey: crypto.randomUUID(), ...facts })
}

/** Sends one turn and gives every update. */
export async function updatesOf(
  session: AgentSession,
  turn: Partial<AgentTurn> = {},
): Promise<readonly AgentUpdate[]> {
  const updates: AgentUpdate[] = []
  for await (const update of session.send({ index: 0, input: 'Hello', ...turn })) {
    updates.push(update)
  }
  return updates
}

/** A connector that is closed with the test. */
export function toPeer(
  { url }: { readonly url: string },
  target: string,
  more: Partial<PeerConnectorOptions> = {},
): AgentConnector & AsyncDisposable {
  const connector = peerConnector({ url: `${url}#${target}`, ...more })
  return Object.assign(connector, {
    [Symbol.asyncDispose]: async () => {
      await connector.close?.()
    },
  })
}

/** Asks once, and gives everything that came. */
export async function ask(
  connector: AgentConnector,
  input: unknown = 'Hello',
): Promise<readonly AgentUpdate[]> {
  const call = peerCall()
  const session = await connector.connect(call)
  try {
    return await updatesOf(session, { input })
  } finally {
    call.abort()
  }
}

/** The first update of a kind of chunk, and the rest to read. */
export async function until(
  updates: AsyncIterator<AgentUpdate>,
  type: string,
): Promise<AgentUpdate> {
  for (;;) {
    const { done, value } = await updates.next()
    if (done === true) throw new Error(`No ${type} came`)
    const chunk = value.kind === 'chunk' ? value.chunk : undefined
    if (typeof chunk === 'object' && chunk !== null && 'type' in chunk && chunk.type === type) {
      return value
    }
  }
}

/** Resolves when something has arrived on the connection of a call. */
export async function heardOnce(call: TestCall): Promise<void> {
  while (call.arrivals === 0) await new Promise((resolve) => setImmediate(resolve))
}
