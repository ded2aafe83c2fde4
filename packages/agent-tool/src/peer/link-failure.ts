/** Pure: how a connection to a peer ends. `origin` is shown. */
import { AgentError } from '@tutti/agent-call'

/** An end that was decided here: nothing is to be asked again. */
export function closedFailure(origin: string): AgentError {
  return new AgentError(`The connection to the peer at ${origin} was closed from here`, {
    failureType: 'connection_lost',
    retryable: false,
  })
}

/** A lost connection that could not be made again, for the reason in `cause`. */
export function notAgainFailure(loss: AgentError, cause: AgentError): AgentError {
  return lost(`${loss.message}, and could not be made again: ${cause.message}`, cause)
}

/** A WebSocket that was closed, or cut: 1006. */
export function lostFailure(
  origin: string,
  { code, reason }: { readonly code: number; readonly reason: string },
): AgentError {
  const why = reason === '' ? '' : ` ${JSON.stringify(reason)}`
  return lost(`The connection to the peer at ${origin} was lost: it was closed with ${code}${why}`)
}

function lost(message: string, cause?: unknown): AgentError {
  const facts = { failureType: 'connection_lost', retryable: true } as const
  return new AgentError(message, cause === undefined ? facts : { ...facts, cause })
}

/** An error of an open connection: of the network, or of what was sent over it. */
export function brokenFailure(error: Error, origin: string): AgentError {
  if (!('code' in error && String(error.code).startsWith('WS_ERR_'))) {
    return lost(`The connection to the peer at ${origin} was lost: ${error.message}`, error)
  }
  return new AgentError(`The peer at ${origin} sent what is no message: ${error.message}`, {
    failureType: 'invalid_response',
    retryable: false,
    cause: error,
  })
}

/** A message that is not JSON, by how it starts. */
export function notJsonFailure(origin: string, start: string): AgentError {
  const shown = JSON.stringify(start)
  return new AgentError(`The peer at ${origin} sent what is no message: it begins with ${shown}`, {
    failureType: 'invalid_response',
    retryable: false,
  })
}
