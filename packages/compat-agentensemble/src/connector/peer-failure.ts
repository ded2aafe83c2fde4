/** Converts failures that a peer reports to failures of an agent. Pure. */
import { AgentError, type AgentFailureType } from '@tutti/agent-call/internal'
import { ERROR_CODES, isErrorCode, type ErrorCode } from '@tutti/protocol'
import { suggest } from '@tutti/protocol/internal'

import type { PeerKind } from './peer-address.ts'
import type { PeerReply } from './peer-request.ts'
import type { Problem, SharedCapability } from '@tutti/protocol/internal'

/** The requested item. */
export interface Asked {
  readonly kind: PeerKind
  readonly name: string
}

/** Errors that only the configuration of the tool or the peer can fix. */
const CONFIGURATION: readonly ErrorCode[] = [
  'INVALID_ENSEMBLE',
  'TOOL_NOT_FOUND',
  'NOT_CONFIGURED',
  'UNAUTHORIZED',
  'FORBIDDEN',
]

/** Returns the failure of a task that was not completed, or of a tool that failed. */
export function toResponseFailure(
  {
    status,
    error = 'no reason stated',
  }: Extract<PeerReply, { type: 'task_response' | 'tool_response' }>,
  { kind, name }: Asked,
): AgentError {
  if (status === 'REJECTED') {
    const [, code = ''] = /^([A-Z_]+): /.exec(error) ?? []
    return new AgentError(`The peer rejected the ${kind} "${name}": ${error}`, classifyCode(code))
  }
  return new AgentError(`The ${kind} "${name}" of the peer failed: ${error}`, {
    failureType: 'agent_failed',
    retryable: false,
  })
}

/** Returns the failure of an `error` message. */
export function toErrorFailure(
  { error: code, message, retryAfterMs }: Extract<PeerReply, { type: 'error' }>,
  { kind, name }: Asked,
): AgentError {
  return new AgentError(`The peer could not execute the ${kind} "${name}": ${code}: ${message}`, {
    ...classifyCode(code),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** Returns the failure for a name that the peer does not share, or shares twice. */
export function createNameFailure(
  name: string,
  shared: readonly Pick<SharedCapability, 'name' | 'type'>[],
): AgentError {
  const named = (type: SharedCapability['type']): string[] =>
    shared.filter((one) => one.type === type).map((one) => one.name)
  const isThere = shared.some((one) => one.name === name)
  const near = suggest(name, [...named('TASK'), ...named('TOOL')])
  const hint = near === undefined ? '' : `. Did you mean "${near}"?`
  const message = isThere
    ? `The peer shares a task and a tool "${name}": use #task:${name} or #tool:${name}`
    : `The peer does not share "${name}"; tasks: [${named('TASK').join(', ')}], tools: [${named('TOOL').join(', ')}]${hint}`
  return new AgentError(message, { failureType: 'configuration', retryable: false })
}

/** Returns the failure of an invalid message. */
export function createInvalidMessageFailure(
  type: string,
  problems: readonly Problem[],
): AgentError {
  const list = problems.map(({ path, message }) => `${path} ${message}`.trim()).join('; ')
  return new AgentError(`The peer sent an invalid "${type}": ${list}`, {
    failureType: 'invalid_response',
    retryable: false,
  })
}

function classifyCode(code: string): { failureType: AgentFailureType; retryable: boolean } {
  if (!isErrorCode(code)) return { failureType: 'agent_failed', retryable: false }
  const isSetup = CONFIGURATION.includes(code)
  return {
    failureType: isSetup ? 'configuration' : 'agent_failed',
    retryable: ERROR_CODES[code].retryable,
  }
}
