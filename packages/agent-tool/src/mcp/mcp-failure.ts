/** What goes wrong with an MCP server as failures of an agent. Pure. */
import { errorMessage, TuttiError } from '@tutti/core'
import { AgentError, type AgentFailureType } from '@tutti/agent-call'

/** Where it went wrong. */
export interface McpFailurePlace {
  /** What the server is called in messages. */
  readonly name: string
  readonly phase: 'connect' | 'call'
  /** How a server that is a program ended, if it has. */
  readonly fate: string | undefined
}

/** JSON-RPC code of a server that wants a page to be opened first. */
const URL_ELICITATION_REQUIRED = -32_042

/** Codes of the library → what they are. */
const LOST: ReadonlySet<unknown> = new Set(['CONNECTION_CLOSED', 'NOT_CONNECTED', 'SEND_FAILED'])

/** Characters of a body that a message quotes. */
const QUOTED_LENGTH = 2_000

/** The failure that an error of the library, or of what is below it, is; a Tutti error is as it is. */
export function mcpFailure(error: unknown, place: McpFailurePlace): AgentError | TuttiError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AgentError || TuttiError.isInstance(cause)) return cause
  }
  const { name, phase, fate } = place
  const isConnecting = phase === 'connect'
  if (fate !== undefined) {
    const cannotStart = fate.startsWith('it cannot be started')
    if (cannotStart) return failure(`Cannot start MCP server ${name}: ${fate}`, 'configuration')
    const type = isConnecting ? 'unreachable' : 'connection_lost'
    return failure(`MCP server ${name} ended: ${fate}`, type, error)
  }
  const { code, status } = factsOf(error)
  if (typeof status === 'number') return httpStatusFailure(status, error)
  if (typeof code === 'number') return protocolFailure(code, error, name)
  const message = errorMessage(error)
  if (LOST.has(code) || message === 'Not connected') {
    const type = isConnecting ? 'unreachable' : 'connection_lost'
    return failure(`The connection to MCP server ${name} was lost: ${message}`, type, error)
  }
  if (code === 'REQUEST_TIMEOUT' && isConnecting) {
    return failure(`Cannot connect to MCP server ${name}: ${message}`, 'unreachable', error)
  }
  return failure(`MCP server ${name} is not understood: ${message}`, 'invalid_response', error)
}

function httpStatusFailure(status: number, error: unknown): AgentError {
  const { statusText, text } = factsOf(error)
  const named = [status, statusText].filter((part) => part !== undefined && part !== '').join(' ')
  const body = typeof text === 'string' ? text.trim() : ''
  const said = body === '' ? '' : `: ${body.slice(0, QUOTED_LENGTH)}`
  return failure(`Agent returned error ${named}${said}`, 'http_error', error)
}

function protocolFailure(code: number, error: unknown, name: string): AgentError {
  if (code === URL_ELICITATION_REQUIRED) {
    const message = `MCP server ${name} wants a page to be opened first: ${errorMessage(error)}`
    return failure(message, 'input_required', error)
  }
  const message = `MCP server ${name} answered with error ${code}: ${errorMessage(error)}`
  return failure(message, 'agent_failed', error)
}

function failure(message: string, failureType: AgentFailureType, cause?: unknown): AgentError {
  const retryable = failureType === 'unreachable' || failureType === 'connection_lost'
  return new AgentError(message, {
    failureType,
    retryable,
    ...(cause === undefined ? {} : { cause }),
  })
}

interface Facts {
  readonly code?: unknown
  readonly status?: unknown
  readonly statusText?: unknown
  readonly text?: unknown
}

/** What the errors of the library say besides their message. */
function factsOf(error: unknown): Facts {
  if (!(error instanceof Error)) return {}
  const { code, status, statusText, text, data } = error as Error & Facts & { data?: unknown }
  // NOTE: an error of HTTP has these, in itself or in its data; whatever they are, they are checked.
  const inside = (typeof data === 'object' && data !== null ? data : {}) as Facts
  // A server can put anything into the data of an error of its own, which has a number for a code.
  const isOfLibrary = typeof code !== 'number'
  const isHttp = isOfLibrary && typeof (status ?? inside.status) === 'number'
  if (!isHttp) return { code }
  return {
    code,
    status: status ?? inside.status,
    statusText: statusText ?? inside.statusText,
    text: text ?? inside.text,
  }
}
