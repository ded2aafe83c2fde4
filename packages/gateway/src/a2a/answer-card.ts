/** Sends agent cards. They need no key: they say how to call the agent, and with which kind of key. */
import { createHash } from 'node:crypto'

import { agentCard, hybridCard } from './agent-card.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { Agent } from './agent.ts'

/** Time for which a card may be cached, in seconds: it changes only when the server restarts. */
const MAX_AGE_S = 300

/** Answers with the card of an agent, in the version that the request asks for. */
export function answerCard(
  request: Request,
  agent: Agent,
  { publicUrl, apiKeys }: Pick<GatewayOptions, 'publicUrl' | 'apiKeys'>,
): Response {
  const { origin } = new URL(request.url)
  const base = (publicUrl ?? origin).replace(/\/+$/, '')
  const parts = { agent, base, isSecured: apiKeys.length > 0 }
  const version = request.headers.get('a2a-version')?.trim() ?? ''
  const isModern = version !== '' && !version.startsWith('0.')
  const body = JSON.stringify(isModern ? agentCard(parts) : hybridCard(parts))
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers = {
    etag,
    'cache-control': `public, max-age=${MAX_AGE_S}`,
    vary: 'Origin, A2A-Version',
  }
  if (isKept(etag, request.headers.get('if-none-match'))) {
    return new Response(null, { status: 304, headers })
  }
  return new Response(body, { headers: { ...headers, 'content-type': 'application/json' } })
}

function isKept(etag: string, header: string | null): boolean {
  const named = (header ?? '').split(',').map((part) => part.trim().replace(/^W\//, ''))
  return named.includes(etag) || named.includes('*')
}
