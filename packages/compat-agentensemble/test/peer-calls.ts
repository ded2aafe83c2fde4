/** Helpers that call peers. */
import { peerConnector, type PeerConnectorOptions } from '../src/connector/index.ts'
import { testCall, type TestCall } from '../../agent-tool/test/test-call.ts'

import type {
  AgentCall,
  AgentConnector,
  AgentSession,
  AgentTurn,
  AgentUpdate,
} from '@tutti/agent-call/internal'

/** Creates a call with a unique idempotency key. */
export function peerCall(settings: Partial<AgentCall> = {}): TestCall {
  return testCall({ idempotencyKey: crypto.randomUUID(), ...settings })
}

/** Sends one turn and returns all updates. */
export async function collectUpdates(
  session: AgentSession,
  turn: Partial<AgentTurn> = {},
): Promise<readonly AgentUpdate[]> {
  const updates: AgentUpdate[] = []
  for await (const update of session.send({ index: 0, input: 'Hello', ...turn })) {
    updates.push(update)
  }
  return updates
}

/** Creates a connector to a target of a peer; disposing it closes it. */
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

/** Sends one turn in a new session and returns all updates. */
export async function ask(
  connector: AgentConnector,
  input: unknown = 'Hello',
): Promise<readonly AgentUpdate[]> {
  const call = peerCall()
  const session = await connector.connect(call)
  try {
    return await collectUpdates(session, { input })
  } finally {
    call.abort()
  }
}

/** Returns the first chunk of a message type; later updates stay unread. */
export async function readUntil(
  updates: AsyncIterator<AgentUpdate>,
  type: string,
): Promise<AgentUpdate> {
  for (;;) {
    const { done, value } = await updates.next()
    if (done === true) throw new Error(`Received no ${type}`)
    const chunk = value.kind === 'chunk' ? value.chunk : undefined
    if (typeof chunk === 'object' && chunk !== null && 'type' in chunk && chunk.type === type) {
      return value
    }
  }
}

/** Waits until the first bytes have arrived for a call. */
export async function waitForBytes(call: TestCall): Promise<void> {
  while (call.arrivals === 0) await new Promise((resolve) => setImmediate(resolve))
}
