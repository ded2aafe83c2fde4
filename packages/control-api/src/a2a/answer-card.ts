/** Sends agent cards. Everybody may read them: they say how to ask, and with which kind of key. */
import { createHash } from 'node:crypto'

import { agentCard, legacyCard } from './agent-card.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { Agent } from './agent.ts'

/** How long a card may be kept, in seconds: what is configured changes with a new process. */
const MAX_AGE_S = 300

/**
 * The answer with the card of an agent: of 0.3 to readers who name that version, and at the address where only
 * older ones look.
 */
export function answerCard(
  request: Request,
  agent: Agent,
  { publicUrl, apiKeys }: Pick<ResolvedControlApiOptions, 'publicUrl' | 'apiKeys'>,
): Response {
  const { origin, pathname } = new URL(request.url)
  const base = (publicUrl ?? origin).replace(/\/+$/, '')
  const parts = { agent, base, isSecured: apiKeys.length > 0 }
  const version = request.headers.get('a2a-version')?.trim() ?? ''
  const isOldAddress = pathname.endsWith('/agent.json') && !version.startsWith('1.')
  const isLegacy = version.startsWith('0.') || isOldAddress
  const body = JSON.stringify(isLegacy ? legacyCard(parts) : agentCard(parts))
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
