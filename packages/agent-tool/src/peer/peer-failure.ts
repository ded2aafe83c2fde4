/** Pure: how a peer says that it gives no answer, as failures of an agent. */
import { AgentError, type AgentFailureType } from '@tutti/agent-call'
import { ERROR_CODES, isErrorCode, suggest, type ErrorCode } from '@tutti/protocol'

import type { PeerKind } from './peer-address.ts'
import type { PeerReply } from './peer-request.ts'
import type { Problem, SharedCapability } from '@tutti/protocol'

/** What was asked. */
export interface Asked {
  readonly kind: PeerKind
  readonly name: string
}

/** Refusals that another input would not change, but whoever set up the tool or the peer. */
const CONFIGURATION: readonly ErrorCode[] = [
  'INVALID_ENSEMBLE',
  'TOOL_NOT_FOUND',
  'NOT_CONFIGURED',
  'UNAUTHORIZED',
  'FORBIDDEN',
]

/** A task that was not done, or a tool that failed. */
export function unansweredFailure(
  {
    status,
    error = 'no reason was given',
  }: Extract<PeerReply, { type: 'task_response' | 'tool_response' }>,
  { kind, name }: Asked,
): AgentError {
  if (status === 'REJECTED') {
    const [, code = ''] = /^([A-Z_]+): /.exec(error) ?? []
    return new AgentError(`The peer rejected the ${kind} "${name}": ${error}`, factsOf(code))
  }
  return new AgentError(`The ${kind} "${name}" of the peer failed: ${error}`, {
    failureType: 'agent_failed',
    retryable: false,
  })
}

/** An `error` of the peer. */
export function refusalFailure(
  { error: code, message, retryAfterMs }: Extract<PeerReply, { type: 'error' }>,
  { kind, name }: Asked,
): AgentError {
  return new AgentError(`The peer could not do the ${kind} "${name}": ${code}: ${message}`, {
    ...factsOf(code),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** A name that the peer does not share, or twice. */
export function nameFailure(
  name: string,
  shared: readonly Pick<SharedCapability, 'name' | 'type'>[],
): AgentError {
  const named = (type: SharedCapability['type']): string[] =>
    shared.filter((one) => one.type === type).map((one) => one.name)
  const isThere = shared.some((one) => one.name === name)
  const near = suggest(name, [...named('TASK'), ...named('TOOL')])
  const hint = near === undefined ? '' : `. Did you mean "${near}"?`
  const message = isThere
    ? `The peer shares a task and a tool "${name}": say #task:${name} or #tool:${name}`
    : `The peer shares no "${name}"; tasks: [${named('TASK').join(', ')}], tools: [${named('TOOL').join(', ')}]${hint}`
  return new AgentError(message, { failureType: 'configuration', retryable: false })
}

/** A message that is not as the wire has it. */
export function misfitFailure(type: string, problems: readonly Problem[]): AgentError {
  const list = problems.map(({ path, message }) => `${path} ${message}`.trim()).join('; ')
  return new AgentError(`The peer sent a "${type}" that does not fit: ${list}`, {
    failureType: 'invalid_response',
    retryable: false,
  })
}

function factsOf(code: string): { failureType: AgentFailureType; retryable: boolean } {
  if (!isErrorCode(code)) return { failureType: 'agent_failed', retryable: false }
  const isSetup = CONFIGURATION.includes(code)
  return {
    failureType: isSetup ? 'configuration' : 'agent_failed',
    retryable: ERROR_CODES[code].retryable,
  }
}
