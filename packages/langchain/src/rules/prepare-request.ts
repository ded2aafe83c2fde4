/**
 * Prepares a request as its provider accepts it, and maps the calls of the reply back. Pure.
 *
 *   request ─▶ tools: names, schemas ─▶ messages: texts, calls, contents, roles ─▶ provider
 *   reply   ◀─ own names of tools and properties ◀──────────────────────────────── provider
 *
 * LC-R1 What a provider refuses is data in `provider-rules.ts`. A request is prepared when it is sent, so that it fits
 * its provider, also after a fallback or a switch of the model.
 * LC-R2 A request that needs no change is sent as it is.
 * LC-R3 A conversation is prepared in the same way every time: further messages do not change the form of earlier
 *    ones, except system messages that are moved to the start.
 * LC-R4 The engine, its events and the tools only see their own names.
 */
import { fitCalls } from './fit-calls.ts'
import { fitMessages, fitTexts } from './fit-messages.ts'
import { prepareTools, type PreparedTools } from './prepare-tools.ts'
import { rulesFor } from './provider-rules.ts'
import { renameKeys } from './rename-keys.ts'

import type { ModelIdentity } from '../providers.ts'
import type { ModelReply, ModelRequest } from '@tutti/ensemble/adapter'

/** A request as its provider accepts it. */
export interface PreparedRequest {
  readonly request: ModelRequest
  /** Returns a reply with the tools' own names in its calls. */
  restore(reply: ModelReply): ModelReply
}

/**
 * Prepares `request` for the provider of `identity`.
 *
 * @throws {TuttiError} TOOL_CONFIGURATION when the provider cannot accept a tool in any form.
 */
export function prepareRequest(request: ModelRequest, identity: ModelIdentity): PreparedRequest {
  const rules = rulesFor(identity)
  const prepared = prepareTools(request.tools, rules, identity)
  const called = fitCalls(fitTexts(request.messages), rules, prepared)
  const messages = fitMessages(called, rules)
  const { tools } = prepared
  const isSame = messages === request.messages && tools === request.tools
  return {
    request: isSame ? request : { ...request, messages, tools },
    restore: (reply) => restoreReply(reply, prepared),
  }
}

function restoreReply(reply: ModelReply, { received }: PreparedTools): ModelReply {
  if (received.size === 0 || reply.toolCalls.length === 0) return reply
  const toolCalls = reply.toolCalls.map((call) => {
    const own = received.get(call.name)
    if (own === undefined) return call
    return { ...call, name: own.name, arguments: renameKeys(call.arguments, own.properties) }
  })
  return { ...reply, toolCalls }
}
