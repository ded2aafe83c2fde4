/** A context without a run round it, for calling a tool body directly: in tests, in scripts. */
import { CallContext } from './call-context.ts'
import { RunningCall } from './running-call.ts'
import { runCall } from './run-tool.ts'
import { defineTextTool } from '../define-tool.ts'

import type { RunToolOptions } from './options.ts'
import type { ToolContext } from '../tool.ts'

const standIn = defineTextTool({
  name: 'unknown',
  description: 'Stands for the tool whose body is called directly',
  execute: (input) => input,
})

/**
 * Makes a context, such as `forecast.execute({ city: 'Bonn' }, toolContext())`. Nothing is there that
 * the options do not give: no reviewer, no metrics, a signal that never aborts.
 */
export function toolContext<Input = unknown>(options: RunToolOptions = {}): ToolContext<Input> {
  const call = { id: 'call', name: standIn.name, arguments: '{}' }
  const running = new RunningCall({ tool: standIn, call, input: {}, options })
  // NOTE: with a reviewer, an edit comes as it is; whoever makes the context says what it is.
  return new CallContext(running, runCall) as ToolContext<Input>
}
