/**
 * Builds the acknowledgements of `run_control` and `directive`, and the messages that report a command to other
 * connections. Pure.
 */
import { repeatId } from '../repeat-id.ts'

import type { WireError } from '@tutti/gateway/internal'
import type { ClientMessage, ErrorCode, LoggedRunEvent } from '@tutti/protocol'
import type {
  CommandResponse,
  DirectiveAck,
  ProfileApplied,
  RunControl,
  RunControlAck,
} from '@tutti/protocol/internal'

/** Returns the acknowledgement of a `run_control` that was performed. */
export function toRunControlAck(
  { requestId, action }: RunControl,
  response: CommandResponse<'cancel' | 'switch_model'>,
): RunControlAck {
  return { type: 'run_control_ack', ...repeatId(requestId), action, ...response }
}

/** Statuses of a failed `run_control` by error code; REJECTED for all others. */
const CONTROL_STATUS: Partial<Record<ErrorCode, RunControlAck['status']>> = {
  RUN_NOT_FOUND: 'NOT_FOUND',
  RUN_COMPLETED: 'NOT_RUNNING',
  RUN_NOT_RUNNING: 'NOT_RUNNING',
  INVALID_MODEL: 'INVALID_MODEL',
  NOT_CONFIGURED: 'NOT_CONFIGURED',
}

/** Returns the acknowledgement of a refused `run_control` or `directive`; undefined for every other message. */
export function toControlRefusal(
  { error: code, message: reason }: WireError['body'],
  message: ClientMessage | undefined,
): RunControlAck | DirectiveAck | undefined {
  if (message?.type === 'run_control') {
    const { requestId, runId, action } = message
    const status = CONTROL_STATUS[code] ?? 'REJECTED'
    const about = { ...repeatId(requestId), runId, action }
    return { type: 'run_control_ack', ...about, status, message: reason }
  }
  if (message?.type !== 'directive') return undefined
  const about = { ...repeatId(message.requestId), directiveId: null }
  return { type: 'directive_ack', ...about, status: 'REJECTED', message: reason }
}

/** Returns the `profile_applied` for an event that applied a profile; undefined for every other event. */
export function toAppliedProfile(event: LoggedRunEvent): ProfileApplied | undefined {
  if (event.type !== 'directive_active' || event.action !== 'APPLY_PROFILE') return undefined
  const { runId, value = '', activeAt } = event
  // A profile changes the models of runs and no capacities.
  return { type: 'profile_applied', profileName: value, capacities: {}, appliedAt: activeAt, runId }
}

/**
 * Returns the acknowledgement of the command that an event records, for any sender and protocol; undefined for an event
 * that records none. It has no request id, so no sender takes it for the reply to its own command.
 */
export function toControlAck(event: LoggedRunEvent): RunControlAck | undefined {
  const { runId, type } = event
  if (type === 'run_cancelling') {
    return { type: 'run_control_ack', runId, action: 'cancel', status: 'CANCELLING' }
  }
  if (type !== 'model_switched') return undefined
  const { model, previousModel, tier } = event
  return {
    type: 'run_control_ack',
    runId,
    action: 'switch_model',
    status: 'APPLIED',
    model,
    ...(previousModel === undefined ? {} : { previousModel }),
    ...(tier === undefined ? {} : { tier }),
  }
}
