import { toolContext, type ToolContext } from '@tutti/core'

/** Creates a context with the signal of a test, for calling a tool body directly. */
export function contextWithSignal<Input>(signal: AbortSignal): ToolContext<Input> {
  return new Proxy(toolContext<Input>(), {
    get: (context, name) => (name === 'signal' ? signal : Reflect.get(context, name, context)),
  })
}
