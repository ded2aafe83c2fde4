/** Pure: the `run_control_ack` of a command, as subscribers are told of it. */
import type { LoggedRunEvent, RunControlAck } from '@tutti/protocol'

/**
 * The acknowledgement of the command that an event records, whoever sent the command and by whatever route;
 * undefined for an event that records none.
 */
export function controlAck(event: LoggedRunEvent): RunControlAck | undefined {
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
