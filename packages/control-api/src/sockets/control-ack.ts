/** Pure: what subscribers are told of the commands that others give. */
import type { LoggedRunEvent, ProfileApplied, RunControlAck } from '@tutti/protocol'

/** The profile that an event says was applied to its run; undefined for every other event. */
export function toAppliedProfile(event: LoggedRunEvent): ProfileApplied | undefined {
  if (event.type !== 'directive_active' || event.action !== 'APPLY_PROFILE') return undefined
  const { runId, value = '', activeAt = '' } = event
  // A profile of ours changes the models of runs and leaves capacities as they are.
  return { type: 'profile_applied', profileName: value, capacities: {}, appliedAt: activeAt, runId }
}

/**
 * The acknowledgement of the command that an event records, whoever sent the command and by whatever route;
 * undefined for an event that records none.
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
