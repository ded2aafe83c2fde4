/** Converts events of commands to acknowledgements for subscribers. Pure. */
import type { LoggedRunEvent, ProfileApplied, RunControlAck } from '@tutti/protocol'

/** Returns the `profile_applied` for an event that applied a profile; undefined for every other event. */
export function toAppliedProfile(event: LoggedRunEvent): ProfileApplied | undefined {
  if (event.type !== 'directive_active' || event.action !== 'APPLY_PROFILE') return undefined
  const { runId, value = '', activeAt = '' } = event
  // A profile changes the models of runs and no capacities.
  return { type: 'profile_applied', profileName: value, capacities: {}, appliedAt: activeAt, runId }
}

/**
 * Returns the acknowledgement of the command that an event records, for any sender and protocol; undefined for an event
 * that records none.
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
